// How much work a backtracking engine has with a regular expression: the expression is parsed and run in the simplest
// way, counting every character that is examined. The count is the same on every machine, however busy.

type Node =
  | { kind: 'char'; test: RegExp }
  | { kind: 'edge'; source: string }
  | { kind: 'group'; options: Node[][] }
  | { kind: 'ahead'; options: Node[][]; negative: boolean }
  | { kind: 'repeat'; node: Node; min: number; max: number; lazy: boolean }

/** Sample characters for a class: those of them that it matches are tried. */
const SAMPLES = [...'a0 "=;:.-_/\\,+Z\t\n%&?#@[]()<>{}*~!x', 'é', 'ß', '日', '\u00a0', '\u0000']

class Parser {
  #at = 0
  readonly #source: string
  readonly #flags: string

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags.replace(/[gy]/g, '')
  }

  whole(): Node[][] {
    const options = this.#options()
    if (this.#at < this.#source.length) throw new Error(`left over: ${this.#source.slice(this.#at)}`)
    return options
  }

  #options(): Node[][] {
    const options: Node[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++
        options.push([])
      } else options.at(-1)!.push(this.#repeated(this.#atom()))
    }
    return options
  }

  #take(length: number): string {
    return this.#source.slice(this.#at, (this.#at += length))
  }

  #char(source: string): Node {
    return { kind: 'char', test: new RegExp(`^(?:${source})$`, this.#flags) }
  }

  #atom(): Node {
    const rest = this.#source.slice(this.#at)
    const open = /^\((?:\?:|\?<?[=!]|\?<[A-Za-z]\w*>)?/.exec(rest)?.[0]
    if (open !== undefined) return this.#group(open)
    const edge = /^(?:\^|\$|\\b|\\B)/.exec(rest)?.[0]
    if (edge !== undefined) return { kind: 'edge', source: this.#take(edge.length) }
    const set = /^\[(?:\\[^]|[^\]\\])*\]/.exec(rest)?.[0]
    if (set !== undefined) return this.#char(this.#take(set.length))
    if (/^\\[1-9k]/.test(rest)) throw new Error('a back-reference is never linear')
    const escaped = /^\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|[^])/.exec(rest)?.[0]
    return this.#char(this.#take(escaped?.length ?? String.fromCodePoint(rest.codePointAt(0)!).length))
  }

  #group(open: string): Node {
    this.#take(open.length)
    const options = this.#options()
    this.#take(1)
    if (open.startsWith('(?<=') || open.startsWith('(?<!')) throw new Error('looking back is not counted')
    if (open === '(?=' || open === '(?!') return { kind: 'ahead', options, negative: open === '(?!' }
    return { kind: 'group', options }
  }

  #repeated(node: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)/.exec(this.#source.slice(this.#at))
    if (!found) return node
    this.#take(found[0].length)
    const [text, low, comma, high] = found
    const min = low !== undefined ? Number(low) : text[0] === '+' ? 1 : 0
    const max = low !== undefined ? (high ? Number(high) : comma ? Infinity : min) : text[0] === '?' ? 1 : Infinity
    return { kind: 'repeat', node, min, max, lazy: found[4] === '?' }
  }
}

type Next = (at: number) => boolean

const ENOUGH = 100_000
class TooMuch extends Error {}

function makeRun(options: Node[][], flags: string) {
  let steps = 0
  let text = ''
  const step = (): void => {
    if (++steps > ENOUGH) throw new TooMuch()
  }
  const wide = /[uv]/.test(flags)

  function one(node: Node, at: number, next: Next): boolean {
    step()
    if (node.kind === 'char') {
      if (at >= text.length) return false
      const char = wide ? String.fromCodePoint(text.codePointAt(at)!) : text[at]!
      return node.test.test(char) && next(at + char.length)
    }
    if (node.kind === 'edge') return isEdge(node.source, at) && next(at)
    if (node.kind === 'ahead') return any(node.options, at, () => true) !== node.negative && next(at)
    if (node.kind === 'group') return any(node.options, at, next)
    return again(node, 0, at, next)
  }

  function again(node: Node & { kind: 'repeat' }, count: number, at: number, next: Next): boolean {
    const more = (): boolean =>
      count < node.max && one(node.node, at, (to) => (to > at || count < node.min) && again(node, count + 1, to, next))
    if (count < node.min) return more()
    return node.lazy ? next(at) || more() : more() || next(at)
  }

  function isEdge(source: string, at: number): boolean {
    const lines = flags.includes('m')
    if (source === '^') return at === 0 || (lines && text[at - 1] === '\n')
    if (source === '$') return at === text.length || (lines && text[at] === '\n')
    const isWord = (i: number): boolean => /\w/.test(text[i] ?? ' ')
    return (isWord(at - 1) !== isWord(at)) === (source === '\\b')
  }

  const all = (nodes: readonly Node[], i: number, at: number, next: Next): boolean =>
    i === nodes.length ? next(at) : one(nodes[i]!, at, (to) => all(nodes, i + 1, to, next))
  const any = (choices: readonly Node[][], at: number, next: Next): boolean =>
    choices.some((nodes) => all(nodes, 0, at, next))

  /** Steps to find the first match, or all of them with `g`. Infinity if there are too many to count. */
  return (input: string): number => {
    steps = 0
    text = input
    try {
      let end = -1
      for (let at = 0; at <= text.length; at = Math.max(at + 1, end)) {
        end = -1
        const found = any(options, at, (to) => {
          end = to
          return true
        })
        if ((found && !flags.includes('g')) || flags.includes('y')) break
      }
      return steps
    } catch (error) {
      if (error instanceof TooMuch) return Infinity
      throw error
    }
  }
}

const charsOf = (node: Node): string[] => {
  if (node.kind === 'char') return SAMPLES.filter((sample) => node.test.test(sample)).slice(0, 3)
  if (node.kind === 'group') return [...new Set(node.options.flatMap((nodes) => nodes.flatMap(charsOf)))].slice(0, 4)
  return node.kind === 'repeat' ? charsOf(node.node) : []
}

function shortest(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'char') return charsOf(node)[0] ?? literalOf(node.test)
      if (node.kind === 'repeat') return shortest([node.node]).repeat(Math.min(node.min, 64))
      if (node.kind === 'group') return node.options.map(shortest).sort((a, b) => a.length - b.length)[0]!
      return ''
    })
    .join('')
}

/** The character that a test for a single one matches, if no sample fits. */
function literalOf(test: RegExp): string {
  for (let code = 0; code < 0x3000; code++) if (test.test(String.fromCharCode(code))) return String.fromCharCode(code)
  return ''
}

interface Loop {
  /** The shortest text that leads to the repetition. */
  lead: string
  pumps: string[]
  /** Characters that end the repetition, or one that follows it. */
  ends: string[]
}

const isLong = (node: Node): boolean => node.kind === 'repeat' && node.max >= 20

/** For each of these repetitions, a character that ends it. */
function endsOf(nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => {
    if (node.kind === 'group') return node.options.flatMap(endsOf)
    if (node.kind !== 'repeat' || node.node.kind !== 'char') return []
    const { test } = node.node
    return SAMPLES.filter((sample) => !test.test(sample)).slice(0, 1)
  })
}

/**
 * The texts that lead to each long repetition in `nodes`. If the repetition before and the one after such a text match
 * it too, a run of it can be divided between the two in as many ways as it is long.
 */
function stretches(nodes: readonly Node[], lead = ''): string[] {
  return nodes.flatMap((node, i) => {
    const before = lead + shortest(nodes.slice(0, i))
    if (node.kind === 'group') return node.options.flatMap((option) => stretches(option, before))
    return isLong(node) ? [before] : []
  })
}

/**
 * Every repetition that may go on for long, with the texts that keep it going. `lead` is the shortest text before the
 * options, and `rest` is what follows them.
 */
function loopsOf(options: readonly Node[][], lead: string, rest: readonly Node[] = []): Loop[] {
  return options.flatMap((nodes) =>
    nodes.flatMap((node, i): Loop[] => {
      const before = lead + shortest(nodes.slice(0, i))
      const following = [...nodes.slice(i + 1), ...rest]
      if (node.kind === 'group') return loopsOf(node.options, before, following)
      if (node.kind === 'ahead') return loopsOf(node.options, before)
      if (node.kind !== 'repeat') return []
      const inner = loopsOf([[node.node]], before, following)
      if (!isLong(node)) return inner
      const chars = charsOf(node.node)
      const after = nodes
        .slice(i + 1, i + 4)
        .flatMap(charsOf)
        .filter((char) => chars.includes(char))
      const single = [...new Set([...after, ...chars])].slice(0, 4)
      const pairs = single.slice(0, 2).flatMap((a) => single.slice(0, 3).map((b) => a + b))
      const one = shortest([node.node])
      const pumps = [...single, one, ...pairs, ...stretches(following).flatMap((text) => [text, one + text])]
      return [...inner, { lead: before, pumps: [...new Set(pumps)], ends: endsOf([node, ...following]) }]
    }),
  )
}

/** Four times as many are tried: every character takes ten frames of the stack, which ends at a megabyte. */
const LENGTH = 90
/** Texts that may follow the repeated run, so that the whole does not match. */
const ENDS = ['', '\u0001', 'a a', '" "']
/** Twice the text is a little more than twice the work; with quadratic growth it is four times the work. */
const LINEAR = 2.7

export interface Growth {
  growth: number
  /** The text that made the work grow. */
  input: string
}

/** The worst growth of the work when a hostile text becomes twice as long. */
export function worstGrowth(source: string, flags: string): Growth {
  const options = new Parser(source, flags).whole()
  const run = makeRun(options, flags)
  let worst: Growth = { growth: 0, input: '' }
  const bad = SAMPLES.find((sample) => !options.flat().flatMap(charsOf).includes(sample)) ?? '\u0001'
  for (const { lead, pumps, ends } of loopsOf(options, '')) {
    for (const pump of pumps) {
      if (pump === '') continue
      for (const [start, unit, end] of [
        ...[...new Set([...ENDS, bad, ...ends])].map((end) => [lead, pump, end] as const),
        ['', lead + pump, ''] as const,
        ['', lead + pump, bad] as const,
      ]) {
        const input = (times: number): string => start + unit.repeat(times) + end
        const times = Math.ceil(LENGTH / unit.length)
        const fourfold = run(input(4 * times))
        const [once, twice] = fourfold === Infinity ? [1, 1] : [run(input(times)), run(input(2 * times))]
        // The smaller of both ratios: if one of the texts happens to match, one ratio says little.
        const value = fourfold === Infinity ? Infinity : Math.min(fourfold / twice, twice / once)
        if (value > worst.growth) worst = { growth: value, input: `${start}(${unit})×n${end}` }
        if (worst.growth === Infinity) return worst
      }
    }
  }
  return worst
}

export const isLinear = ({ growth }: Growth): boolean => growth < LINEAR
