// A command of the command line: its usage, its help, and the file that implements it. The file is loaded when the
// command runs, so that help and completion load no such file, the operator's commands load no client, and the others
// load no store.
import type { Client } from '@sensorium/client'
import type { Operation, ResultOf } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Input } from '../operations/call.ts'
import type { Store } from '../store/db.ts'

/** What was typed after the words of a command. */
export interface ParsedInput {
  /** In the order of the usage, including all values of an argument that repeats. */
  args: readonly string[]
  /** The values of options, by name without `--`. */
  options: Readonly<Record<string, string | undefined>>
  /** The names of the options without a value that were given. */
  flags: ReadonlySet<string>
}

export interface CommandResult {
  /** What `--json` prints: the body of the HTTP response, if there is one. */
  json: unknown
  /** What a person reads. */
  text: string
  exitCode?: number
  /**
   * The error that ended the command when part of its work was done. It is reported after the result, and with `--json`
   * as the `error` of the same object.
   */
  failedWith?: unknown
}

export interface OperatorInvocation extends ParsedInput {
  clock: Clock
  /** Reads the configuration from the environment. Throws if it is invalid. */
  config(): Config
  /**
   * Reads an option that holds a secret, which would be visible in the list of processes: `-` reads the secret from
   * standard input, and without the option it comes from an environment variable.
   */
  secret(option: string, variable: string): Promise<string | undefined>
  /** Carries out an operator's operation on the store, as HTTP would, and returns the body of its response. */
  call<O extends Operation>(operation: O, input: Input): Promise<ResultOf<O>>
  /** Opens the store while `work` runs, even if a service is running on it. */
  withStore<T>(work: (store: Store, tools: KeyTools) => Promise<T>): Promise<T>
}

export interface ClientInvocation extends ParsedInput {
  client: Client
  /** The service and the key that the client uses. */
  session: { url: string; key: string; profile: string | null }
  /** Returns the id of the agent that `--agent` names, else of the one that owns the key. */
  agent(): Promise<string>
  /**
   * Prints at once, for commands that keep running: text for a person, or JSON with `--json`. Rejects if the output
   * could not be written.
   */
  print(outcome: CommandResult): Promise<void>
  /** Writes a line as it is, with or without `--json`. Rejects in the same case. */
  write(line: string): Promise<void>
  /** Aborted when the command is told to end, for example by Ctrl-C. */
  signal: AbortSignal
}

interface LocalInvocation extends ParsedInput {
  env: NodeJS.ProcessEnv
  /** All commands, for those that list them, such as help and completion. */
  sections: readonly Section[]
}

export type OperatorRun = (call: OperatorInvocation) => Promise<CommandResult>
export type ClientRun = (call: ClientInvocation) => Promise<CommandResult>
export type LocalRun = (call: LocalInvocation) => Promise<CommandResult>

interface Described {
  /** `keys revoke <agent-id> <key-id>`: the words that name the command, then its arguments. */
  usage: string
  summary: string
  /** `--name <text>` and its meaning. A value such as `<a|b>` is one of these words. */
  options?: Readonly<Record<string, string>>
  examples: readonly string[]
  /** Removes or replaces something that no other command brings back, or shuts somebody out. */
  destructive?: boolean
}

/** Works on the store with the configuration of the service. */
export interface OperatorCommand extends Described {
  kind: 'operator'
  load(): Promise<{ run: OperatorRun }>
}

/** Calls a service over HTTP, with the key of a profile or of the environment. */
export interface ClientCommand extends Described {
  kind: 'client'
  load(): Promise<{ run: ClientRun }>
}

/** Needs neither a store nor a service. */
interface LocalCommand extends Described {
  kind: 'local'
  load(): Promise<{ run: LocalRun }>
}

/** `start`: the process becomes the service. */
interface ServiceCommand extends Described {
  kind: 'service'
}

export type Command = OperatorCommand | ClientCommand | LocalCommand | ServiceCommand

/** Commands that help shows together. */
export interface Section {
  title: string
  /** The meaning of a first word that several commands share. */
  groups?: Readonly<Record<string, string>>
  commands: readonly Command[]
}

const ARGUMENT = /^[<[]/

/** Returns the words of a command: `keys`, `revoke`. */
export const wordsOf = ({ usage }: Command): string[] => usage.split(' ').filter((part) => !ARGUMENT.test(part))

/** Returns the arguments of a command: `<agent-id>`, `<key-id>`. */
export const argumentsOf = ({ usage }: Command): string[] => usage.split(' ').filter((part) => ARGUMENT.test(part))

const COMMON = { '--json': 'print the response as JSON' }
const CONNECTION = {
  '--profile <name>': 'the profile to use; without it, that of SENSORIUM_PROFILE or the current one',
  '--url <address>': 'the service that SENSORIUM_KEY is for; without it, SENSORIUM_URL or http://localhost:8080',
}

/** Returns every option that a command accepts. */
export const optionsOf = ({ kind, options = {} }: Command): Readonly<Record<string, string>> => ({
  ...options,
  ...COMMON,
  ...(kind === 'client' ? CONNECTION : {}),
})

/** Returns the usage line: `sensorium tenant create <slug> [options]`. */
export const usageOf = (command: Command): string =>
  `sensorium ${command.usage}${command.options === undefined ? '' : ' [options]'}`

/** The command line is not valid. The sentence says what would be. */
export class UsageError extends Error {
  readonly expected: string

  constructor(sentence: string, expected: string) {
    super(sentence)
    this.expected = expected
  }
}

/** The command was ended by Ctrl-C or a signal before it was done. */
export class Interrupted extends Error {}

/** This command does not do it. `instead` is the command line of a tool that does. */
export class Unsupported extends Error {
  readonly instead: string

  constructor(why: string, instead: string) {
    super(`${why}:\n\n  ${instead}\n`)
    this.instead = instead
  }
}
