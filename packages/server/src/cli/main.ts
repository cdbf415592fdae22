// sensorium <command>: finds the command, loads what it needs, prints what it gives back.
import { wordsOf, type Command, type Given, type CommandResult } from './command.ts'
import { commands, sections } from './commands.ts'
import { EXIT } from './exit-codes.ts'
import { toldByAll, toldPlainly, type Told } from './fail.ts'
import { cleanJson } from './terminal/clean.ts'
import { errorScreen, paint } from './terminal/screen.ts'

const words = process.argv.slice(2)
const json = words.includes('--json')
/** `--json` may stand anywhere. */
const argv = words.filter((word) => word !== '--json')
process.umask(0o077)

function print({ json: value, text }: CommandResult): void {
  if (json && value !== undefined) console.log(cleanJson(value))
  else if (!json && text !== '') console.log(text)
}

/** `--help` and `--version` as the commands that they stand for. */
function spelledOut(line: readonly string[]): string[] {
  if (line.length === 0) return ['help']
  if (['--version', '-V'].includes(line[0]!)) return ['version']
  if (!line.includes('--help') && !line.includes('-h')) return [...line]
  const named = line.filter((word) => !word.startsWith('-'))
  const known = commands.filter((command) => wordsOf(command)[0] === named[0]).map(wordsOf)
  // Behind the words come values of whoever asked in the middle of a line.
  const deep = known.some((one) => one.length > 1 && one[1] === named[1]) ? 2 : 1
  return ['help', ...named.slice(0, deep)]
}

/** Each kind of command brings its own tools, and its own words for what goes wrong. */
async function carryOut(command: Command, given: Given): Promise<CommandResult | Told> {
  switch (command.kind) {
    case 'service':
      await import('../main.ts')
      return { json: null, text: '' }
    case 'operator': {
      const { operatorInvocation } = await import('./operator/invocation.ts')
      const { told } = await import('./operator/fail.ts')
      const { run } = await command.load()
      return run(operatorInvocation(given)).catch((error: unknown) => toldByAll(error, argv) ?? told(error))
    }
    case 'client': {
      const { clientInvocation } = await import('./client/invocation.ts')
      const { told } = await import('./client/fail.ts')
      const { run } = await command.load()
      const carriedOut = async (): Promise<CommandResult> => run(clientInvocation(given, process.env, print))
      return carriedOut().catch((error: unknown) => toldByAll(error, argv) ?? told(error))
    }
    case 'local': {
      const { run } = await command.load()
      return run({ ...given, env: process.env, sections }).catch(async (error: unknown) => {
        const { told } = await import('./client/fail.ts')
        return toldByAll(error, argv) ?? told(error)
      })
    }
  }
}

function fail({ sentence, envelope, exitCode }: Told): void {
  // A program reads one place, whatever the outcome.
  if (json) console.log(cleanJson(envelope))
  else console.error(paint('red', sentence, errorScreen))
  process.exitCode = exitCode
}

try {
  const { parse } = await import('./program.ts')
  const { command, given } = parse(spelledOut(argv), commands)
  const outcome = await carryOut(command, given)
  if ('envelope' in outcome) fail(outcome)
  else if (command.kind !== 'service') {
    print(outcome)
    process.exitCode = outcome.exitCode ?? EXIT.ok
  }
} catch (error) {
  fail(toldByAll(error, argv) ?? toldPlainly(error))
}
