// What help prints: an overview, the commands that share a word, or one command with its options and examples.
import { optionsOf, usageOf, wordsOf, type Command, type Section } from './command.ts'
import { paint, screen, type Screen } from './terminal/screen.ts'
import { padEnd, widthOf, wrap } from './terminal/width.ts'

const INDENT = 2
const GAP = 2
/** The explanation of a longer name is on the next line. */
const WIDEST_NAME = 28
/** Where there is less room beside the names, every explanation is on the next line. */
const NARROWEST = 20

/** Cuts a name such as `memories list|show` behind its bars if it is longer than a line. */
const cutAtBars = (name: string, { columns }: Screen): string[] =>
  columns === null || widthOf(name) <= columns - INDENT
    ? [name]
    : wrap(name.replaceAll('|', '| '), columns - INDENT).map((line) => line.replaceAll('| ', '|'))

/** Lays out names with their explanations beside them. */
function pairs(
  rows: readonly (readonly [string, string])[],
  on: Screen,
  width = Math.min(WIDEST_NAME, Math.max(...rows.map(([name]) => widthOf(name)))),
): string[] {
  const beside = INDENT + width + GAP
  const hasRoom = on.columns === null || on.columns - beside >= NARROWEST
  const left = hasRoom ? beside : 2 * INDENT
  return rows.flatMap(([name, what]) => {
    const [first = '', ...rest] = wrap(what, on.columns === null ? null : on.columns - left)
    const named = (text: string): string => ' '.repeat(INDENT) + paint('cyan', text, on)
    const below = (line: string): string => ' '.repeat(left) + line
    return hasRoom && widthOf(name) <= width
      ? [`${named(padEnd(name, width))}${' '.repeat(GAP)}${first}`.trimEnd(), ...rest.map(below)]
      : [...cutAtBars(name, on).map(named), below(first), ...rest.map(below)]
  })
}

const title = (text: string, on: Screen): string => paint('bold', text, on)

/** Returns a line for each first word: a command, or `tenant create|list`. */
function linesOf({ commands, groups = {} }: Section): [string, string][] {
  const byWord = Map.groupBy(commands, (command) => wordsOf(command)[0]!)
  return [...byWord].map(([word, ofWord]) => {
    const [only] = ofWord
    return groups[word] === undefined
      ? [only!.usage, only!.summary]
      : [`${word} ${ofWord.map((command) => wordsOf(command).slice(1).join(' ')).join('|')}`, groups[word]]
  })
}

export function helpForAll(sections: readonly Section[], on: Screen = screen): string {
  return [
    'sensorium: the sensing and memory back end that autonomous agents plug into',
    '',
    `${title('Usage:', on)} sensorium <command> [options]`,
    ...sections.flatMap((section) => ['', title(section.title, on), ...pairs(linesOf(section), on, WIDEST_NAME)]),
    '',
    '`sensorium help <command>` has options and examples. --json prints JSON.',
  ].join('\n')
}

/** Returns the help for commands that begin with the same words. */
export function helpForGroup(commands: readonly Command[], on: Screen = screen): string {
  const rows = commands.map((command) => [usageOf(command), command.summary] as const)
  return rows
    .flatMap(([usage, summary]) => [
      paint('cyan', usage, on),
      ...wrap(summary, on.columns === null ? null : on.columns - 4).map((line) => `    ${line}`),
    ])
    .join('\n')
}

export function helpFor(command: Command, on: Screen = screen): string {
  const examples = command.examples.map((example) => `  $ ${example}`)
  return [
    ...wrap(`${command.summary}.`, on.columns),
    '',
    `${title('Usage:', on)} ${usageOf(command)}`,
    '',
    title('Options', on),
    ...pairs([...Object.entries(optionsOf(command)), ['-h, --help', 'print this']], on),
    '',
    title(examples.length > 1 ? 'Examples' : 'Example', on),
    ...examples,
  ].join('\n')
}
