// Parses the command line with commander: commands by their words, with their arguments and options.
import { Command as Program, CommanderError, Option } from 'commander'
import { argumentsOf, UsageError, optionsOf, usageOf, wordsOf, type Command, type ParsedInput } from './command.ts'
import { nearest } from './nearest.ts'
import { unknownCommand } from './unknown-command.ts'

export interface Parsed {
  command: Command
  input: ParsedInput
}

/** Keeps commander from printing and from ending the process. */
const quiet = (program: Program): Program =>
  program
    .exitOverride()
    .helpCommand(false)
    .helpOption(false)
    .configureOutput({ outputError: () => {} })

function inputOf(program: Program): ParsedInput {
  const values = program.opts<Record<string, string | boolean | undefined>>()
  const options: Record<string, string | undefined> = {}
  const flags = new Set<string>()
  for (const option of program.options) {
    const value = values[option.attributeName()]
    if (value === true) flags.add(option.name())
    else if (typeof value === 'string') options[option.name()] = value
  }
  return { args: program.args, options, flags }
}

/** Describes what commander found wrong, with the usage of the command. */
function usageErrorOf(error: CommanderError, command: Command, argv: readonly string[]): UsageError {
  const usage = `Usage: ${usageOf(command)}`
  if (error.code === 'commander.unknownOption') {
    const names = Object.keys(optionsOf(command)).map((option) => option.split(' ')[0]!)
    const wrong = /'(-[^']*)'/.exec(error.message)?.[1] ?? argv.find((word) => word.startsWith('-')) ?? ''
    const meant = nearest(wrong, names)
    return new UsageError(
      `There is no option ${wrong}.${meant === null ? '' : ` Did you mean ${meant}?`}\n${usage}`,
      usage,
    )
  }
  const sentence = error.message.replace(/^error: /, '')
  return new UsageError(`${usage}\n${sentence[0]!.toUpperCase()}${sentence.slice(1)}`, usage)
}

export function parse(argv: readonly string[], commands: readonly Command[]): Parsed {
  let parsed: Parsed | undefined
  const root = quiet(new Program('sensorium'))
  const unknown = (program: Program, words: readonly string[]): void => {
    program
      .argument('[words...]')
      .allowUnknownOption()
      .action((given: string[]) => {
        throw unknownCommand([...words, ...given.filter((word) => !word.startsWith('-'))], commands)
      })
  }
  // Which words are values of an option is known only once the command is.
  if (argv[0]?.startsWith('-') && argv[0] !== '--') throw unknownCommand([], commands)
  unknown(root, [])

  for (const command of commands) {
    let parent = root
    const words = wordsOf(command)
    for (const word of words.slice(0, -1)) {
      const known = parent.commands.find((one) => one.name() === word)
      const next = known ?? quiet(new Program(word))
      if (!known) {
        unknown(next, [word])
        parent.addCommand(next)
      }
      parent = next
    }
    const program = quiet(new Program(words.at(-1)!))
    for (const argument of argumentsOf(command)) program.argument(argument)
    for (const [flags, what] of Object.entries(optionsOf(command))) program.addOption(new Option(flags, what))
    program.action(() => {
      parsed = { command, input: inputOf(program) }
    })
    parent.addCommand(program)
  }

  try {
    root.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    const command = find(argv, commands)
    throw command === undefined ? new UsageError(error.message, 'a command') : usageErrorOf(error, command, argv)
  }
  return parsed!
}

/** Returns the command whose words the line begins with. */
const find = (argv: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find((command) => wordsOf(command).every((word, i) => argv[i] === word))
