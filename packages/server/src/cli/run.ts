// Finds the command that the words name, loads what it needs, and prints its result.
import { wordsOf, type Command, type ParsedInput, type CommandResult } from './command.ts'
import { commands, sections } from './commands.ts'
import { EXIT } from './exit-codes.ts'
import { reportCommon, reportUnexpected, type ErrorReport } from './error-report.ts'
import { cleanJson } from './terminal/clean.ts'
import { errorScreen, paint } from './terminal/screen.ts'

/** The environment of a command: the process, or a test. */
interface CommandEnvironment {
  env: NodeJS.ProcessEnv
  /** Prints a line on standard output; resolves once it is written. `warn` prints one on standard error. */
  print(line: string): unknown
  warn(line: string): void
  /** For `start`: the process becomes the service. */
  serve(): Promise<unknown>
  /** Called for commands that end by themselves when they are interrupted. */
  interrupted(): AbortSignal
}

/** Replaces `--help` and `--version` by the commands that they stand for. */
function spelledOut(line: readonly string[]): string[] {
  if (line.length === 0) return ['help']
  if (['--version', '-V', '-v'].includes(line[0]!)) return ['version']
  if (!line.includes('--help') && !line.includes('-h')) return [...line]
  const named = line.filter((word) => !word.startsWith('-'))
  const known = commands.filter((command) => wordsOf(command)[0] === named[0]).map(wordsOf)
  // Words after these are values: `--help` may be added to a line that is half typed.
  const deep = known.some((one) => one.length > 1 && one[1] === named[1]) ? 2 : 1
  return ['help', ...named.slice(0, deep)]
}

/** Runs a command. Each kind of command has its own tools. */
async function carryOut(
  command: Command,
  input: ParsedInput,
  print: (result: CommandResult) => Promise<void>,
  write: (line: string) => Promise<void>,
  { env, warn, serve, interrupted }: CommandEnvironment,
): Promise<CommandResult> {
  switch (command.kind) {
    case 'service':
      await serve()
      return { json: undefined, text: '' }
    case 'operator': {
      const { operatorInvocation } = await import('./operator/invocation.ts')
      return (await command.load()).run(operatorInvocation(input, env))
    }
    case 'client': {
      const { clientInvocation } = await import('./client/support/invocation.ts')
      const { withCalled } = await import('./client/support/call-failed.ts')
      const call = clientInvocation(input, { env, print, write, warn, signal: interrupted() })
      return withCalled(call.session, (await command.load()).run(call))
    }
    case 'local':
      return (await command.load()).run({ ...input, env, sections })
  }
}

async function reportOf({ kind }: Command, error: unknown, argv: readonly string[]): Promise<ErrorReport> {
  const general = reportCommon(error, argv) ?? (kind === 'service' ? reportUnexpected(error) : null)
  if (general !== null) return general
  const { reportError } =
    kind === 'operator' ? await import('./operator/report-error.ts') : await import('./client/support/report-error.ts')
  return reportError(error)
}

/** Resolves with the exit code, or with null if the process has become the service and keeps running. */
export async function runCommand(words: readonly string[], environment: CommandEnvironment): Promise<number | null> {
  const json = words.includes('--json')
  /** `--json` may be anywhere in the line. */
  const argv = words.filter((word) => word !== '--json')

  const write = async (line: string): Promise<void> => void (await environment.print(line))
  const print = async ({ json: value, text }: CommandResult): Promise<void> => {
    if (json && value !== undefined) await write(cleanJson(value))
    else if (!json && text !== '') await write(text)
  }
  const fail = async ({ sentence, envelope, exitCode }: ErrorReport): Promise<number> => {
    if (exitCode === EXIT.outputClosed) return exitCode
    // With --json, errors go to standard output too: a program reads one place, whatever the outcome.
    if (json) await write(cleanJson(envelope)).catch(() => environment.warn(sentence))
    else environment.warn(paint('red', sentence, errorScreen))
    return exitCode
  }

  let command: Command | undefined
  try {
    const { parse } = await import('./program.ts')
    const parsed = parse(spelledOut(argv), commands)
    command = parsed.command
    const result = await carryOut(command, parsed.input, print, write, environment)
    if (command.kind === 'service') return null
    if (result.failedWith === undefined) {
      await print(result)
      return result.exitCode ?? EXIT.ok
    }
    const report = await reportOf(command, result.failedWith, argv)
    if (!json) await print(result)
    return await fail({ ...report, envelope: { ...(result.json as object), ...report.envelope } })
  } catch (error) {
    return fail(
      command === undefined
        ? (reportCommon(error, argv) ?? reportUnexpected(error))
        : await reportOf(command, error, argv),
    )
  }
}
