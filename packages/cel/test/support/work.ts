// Counts the work that an evaluation really does, where it is done: every character and element that JavaScript's own
// functions read or write. It knows nothing of the budget, nor of time.
import { RE2Set } from 're2js'

const CHARS_PER_STEP = 16
const STEPS_PER_INSTRUCTION = 20
/** Adding to a map takes about 0.1 microseconds, and looking up in it half as long: a number is written as text. */
const ADD_STEPS = 10
const LOOK_UP_STEPS = 5

let work = 0
const chars = (count: number): void => {
  work += count / CHARS_PER_STEP
}

type Method = (...args: never[]) => unknown
interface Patch {
  readonly on: object
  readonly name: string
  /** Counts the work of a call from its receiver, arguments and result. */
  readonly count: (self: never, args: never[], result: never) => void
  /** Replaces the arguments of a call. */
  readonly prepare?: (args: never[]) => unknown[]
}

const text = (name: string, count: Patch['count']): Patch => ({ on: String.prototype, name, count })
/** A call of a regular expression costs more than the characters it reads, if they are few. */
const CALL_STEPS = 2
const expression = (name: string): Patch => ({
  on: RegExp.prototype,
  name,
  count: (self: RegExp, [read]: string[], found: RegExpExecArray | boolean | null) => {
    work += CALL_STEPS
    if (!self.global && !self.sticky) chars(String(read).length)
    else if (Array.isArray(found)) chars(found[0].length)
  },
})
/** Compares as the caller does, and counts the characters of the names. */
const countedOrder =
  (order: (a: unknown, b: unknown) => number) =>
  (a: unknown, b: unknown): number => {
    if (Array.isArray(a) && typeof a[0] === 'string') chars(a[0].length)
    work++
    return order(a, b)
  }
/** Creating a formatter takes about 50 microseconds, and failing to create one nearly as much. */
const FORMATTER_STEPS = 5000
const whole: Patch['count'] = (self: string) => chars(self.length)

function automatonOf(): object {
  const set = new RE2Set()
  set.add('a+')
  set.compile()
  return Object.getPrototypeOf(set.dfa) as object
}

const PATCHES: readonly Patch[] = [
  text('charCodeAt', () => chars(1)),
  text('codePointAt', () => chars(1)),
  ...['trim', 'toLowerCase', 'toUpperCase', 'replace', 'replaceAll', 'split', 'normalize'].map((n) => text(n, whole)),
  ...['startsWith', 'endsWith'].map((n) => text(n, (_self: string, args: string[]) => chars(args[0]!.length))),
  text('indexOf', (self: string, [part, from]: (string | number)[], found: number) =>
    chars((found === -1 ? self.length : found) - Number(from ?? 0) + String(part).length),
  ),
  text('lastIndexOf', (self: string, [part]: string[], found: number) => chars(self.length - found + part!.length)),
  text('repeat', (_self: string, _args: number[], made: string) => chars(made.length)),
  {
    on: Array.prototype,
    name: 'join',
    count: (self: unknown[], _args, made: string) => chars(made.length + self.length),
  },
  { on: Array.prototype, name: 'concat', count: (_self, _args, made: unknown[]) => void (work += made.length) },
  {
    on: Array.prototype,
    name: 'sort',
    prepare: ([order]) => (order === undefined ? [] : [countedOrder(order)]),
    count: (self: unknown[]) => void (work += self.length),
  },
  expression('test'),
  expression('exec'),
  { on: Intl, name: 'DateTimeFormat', prepare: (args) => ((work += FORMATTER_STEPS), args), count: () => {} },
  {
    on: Array.prototype,
    name: 'includes',
    count: (self: unknown[], [item]: unknown[]) =>
      void (work += (self.indexOf(item) + 1 || self.length) / CHARS_PER_STEP),
  },
  { on: Array.prototype, name: 'reverse', count: (self: unknown[]) => void (work += self.length) },
  { on: Map.prototype, name: 'set', count: () => void (work += ADD_STEPS) },
  { on: Map.prototype, name: 'get', count: () => void (work += LOOK_UP_STEPS) },
  { on: Object, name: 'keys', count: (_self, _args, made: string[]) => void (work += made.length) },
  { on: Buffer, name: 'compare', count: (_self, [a, b]: Buffer[]) => chars(Math.min(a!.length, b!.length)) },
  { on: TextEncoder.prototype, name: 'encode', count: (_self, _args, made: Uint8Array) => chars(made.length) },
  { on: TextDecoder.prototype, name: 'decode', count: (_self, _args, made: string) => chars(made.length) },
  {
    on: automatonOf(),
    name: 'step',
    count: (_self, [from]: { nfaStates: unknown[] }[], next: { nfaStates: unknown[] }) =>
      void (work += (from!.nfaStates.length + next.nfaStates.length) * STEPS_PER_INSTRUCTION),
  },
]

/** Returns the steps of work done. A call that fails halfway (a string that would be too long) fails the test. */
export function workOf(run: () => void): number {
  const originals = PATCHES.map(({ on, name }) => (on as Record<string, Method>)[name]!)
  work = 0
  PATCHES.forEach(({ on, name, count, prepare }, i) => {
    const original = originals[i]!
    ;(on as Record<string, unknown>)[name] = function (this: never, ...args: never[]): unknown {
      const result = original.apply(this, (prepare?.(args) ?? args) as never[])
      count(this, args, result as never)
      return result
    }
  })
  try {
    run()
  } finally {
    PATCHES.forEach(({ on, name }, i) => ((on as Record<string, unknown>)[name] = originals[i]))
  }
  return work
}

/** A list that counts every element that is read from it. */
export function countedList<T>(items: T[]): T[] {
  return new Proxy(items, {
    get(target, key): unknown {
      if (typeof key === 'string' && key !== 'length') work++
      return Reflect.get(target, key)
    },
  })
}
