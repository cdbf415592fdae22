// sensorium <command>: finds the command, gives it what it asks for, prints what it answers.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { Operation } from '@sensorium/contract'
import { readConfig, type Config } from '../config.ts'
import { Failure, ruleBroken } from '../kernel/failure.ts'
import { systemClock } from '../kernel/clock.ts'
import { idMaker } from '../kernel/ids.ts'
import { OPERATOR, type Input } from '../operations/call.ts'
import { makeOperatorOperations } from '../operations/make-operator-operations.ts'
import { resultOf } from '../operations/response.ts'
import { openStore, storeExists, type Opened } from '../store/open.ts'
import { usageOf, type Command, type Invocation, type Outcome } from './command.ts'
import { commands } from './commands.ts'
import { told } from './fail.ts'
import { help } from './help.ts'
import { originOf } from './ingest-options.ts'
import { nearest } from './nearest.ts'

/** Not a command line that means something: the sentence says which would. */
const misused = (sentence: string, given: readonly string[], expected: string): Failure =>
  new Failure('validation_failed', sentence, {
    field: 'command',
    value: given.join(' '),
    expected,
    example: 'sensorium help',
  })

/** The command that was probably meant, as a sentence; nothing where none is near. */
function suggestion(words: readonly string[]): string {
  const names = ['start', 'help', 'version', ...commands.map((one) => one.words.join(' '))]
  const meant = nearest(words.slice(0, 2).join(' '), names) ?? nearest(words[0] ?? '', names)
  return meant === null ? '' : ` Did you mean \`sensorium ${meant}\`?`
}

function find(words: readonly string[]): Command {
  const command = commands.find((one) => one.words.every((word, i) => words[i] === word))
  if (command) return command
  const near = commands.filter((one) => one.words[0] === words[0]).map((one) => `  sensorium ${usageOf(one)}`)
  throw near.length > 0
    ? misused(`Which one?\n${near.join('\n')}`, words, near.join(' or ').trim())
    : misused(
        `There is no command ${words.join(' ')}.${suggestion(words)} \`sensorium help\` lists them.`,
        words,
        'a command',
      )
}

function parse(argv: readonly string[]): {
  command: Command
  args: string[]
  options: Record<string, string | undefined>
} {
  const loose = parseArgs({
    args: [...argv],
    options: { json: { type: 'boolean' } },
    allowPositionals: true,
    strict: false,
  })
  const command = find(loose.positionals)
  const usage = `Usage: sensorium ${usageOf(command)}`
  const taken = Object.fromEntries(
    Object.keys(command.options ?? {}).map((name) => [name, { type: 'string' as const }]),
  )
  let parsed
  try {
    parsed = parseArgs({ args: [...argv], options: { json: { type: 'boolean' }, ...taken }, allowPositionals: true })
  } catch (error) {
    throw misused(`${(error as Error).message.split('. ')[0]}.\n${usage}`, argv, usage)
  }
  const { json: _, ...options } = parsed.values
  const args = parsed.positionals.slice(command.words.length)
  const [least, most] = command.more
    ? [command.parameters.length + 1, Infinity]
    : [command.parameters.length, command.parameters.length]
  if (args.length < least || args.length > most) throw misused(usage, argv, usage)
  return { command, args, options: options as Record<string, string | undefined> }
}

const config: Invocation['config'] = () => readConfig(process.env)

/** A command works on a store that is there: a mistyped folder must not become one. */
function open(settings: Config): Promise<Opened> {
  if (storeExists(settings)) return openStore(settings, systemClock)
  throw ruleBroken(
    'no_store',
    `There is no store in ${path.resolve(settings.dataDir)}. Set DATA_DIR or DATABASE_URL as the service has it; \`sensorium start\` makes a store`,
  )
}

const call: Invocation['call'] = async <O extends Operation>(operation: O, input: Input) => {
  const settings = config()
  const { store, secrets } = await open(settings)
  try {
    const { perform } = makeOperatorOperations(store, secrets, systemClock, settings)
    return resultOf<O>(await perform(OPERATOR, operation, input, { origin: originOf(settings) }))
  } finally {
    await store.close()
  }
}

const withStore: Invocation['withStore'] = async (work) => {
  const { store, secrets } = await open(config())
  try {
    return await work(store, { makeId: idMaker(systemClock.now), secrets, now: systemClock.now })
  } finally {
    await store.close()
  }
}

async function run(argv: readonly string[]): Promise<Outcome> {
  const { command, args, options } = parse(argv)
  const secret: Invocation['secret'] = async (option, variable) => {
    const given = options[option] ?? (process.env[variable] || undefined)
    return given === '-' ? (await text(process.stdin)).trim() : given
  }
  return command.run({ args, options, clock: systemClock, config, secret, call, withStore })
}

const argv = process.argv.slice(2)
const json = argv.includes('--json')
const wantsHelp = argv.length === 0 || argv[0] === 'help' || argv.includes('--help') || argv.includes('-h')

const wantsVersion = argv[0] === 'version' || argv[0] === '--version' || argv[0] === '-V'
process.umask(0o077)

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

if (wantsVersion) console.log(json ? JSON.stringify({ version: version() }) : version())
else if (wantsHelp) console.log(help(commands))
else if (argv[0] === 'start') await import('../main.ts')
else {
  try {
    const outcome = await run(argv)
    console.log(json ? JSON.stringify(outcome.json) : outcome.text)
    process.exitCode = outcome.exitCode ?? 0
  } catch (error) {
    const { sentence, envelope, exitCode } = told(error)
    // A program reads one place, whatever the outcome.
    if (json) console.log(JSON.stringify(envelope))
    else console.error(sentence)
    process.exitCode = exitCode
  }
}
