// A command of the line: how it is called, what help says of it, and the file that carries it out. The file is loaded
// when the command runs, so that help and completion load none, the operator's commands no client, and the others no
// store.
import type { Client } from '@sensorium/client'
import type { Operation, ResultOf } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Input } from '../operations/call.ts'
import type { Store } from '../store/db.ts'

/** What was typed behind the words of a command. */
export interface Given {
  /** In the order of the usage; of an argument that repeats, all of them. */
  args: readonly string[]
  /** By their name without `--`. */
  options: Readonly<Record<string, string | undefined>>
  /** The options without a value that were given. */
  flags: ReadonlySet<string>
}

export interface CommandResult {
  /** What `--json` prints: the body of the HTTP response, where there is one. */
  json: unknown
  /** What a person reads. */
  text: string
  exitCode?: number
}

export interface OperatorInvocation extends Given {
  clock: Clock
  /** The environment as configuration; refuses a wrong one. */
  config(): Config
  /**
   * An option that holds a secret, and would show in the list of processes: `-` reads it from standard input, and left
   * out it is taken from an environment variable.
   */
  secret(option: string, variable: string): Promise<string | undefined>
  /** Carries out an operation of the operator on the store, as HTTP would, and gives back the body of its response. */
  call<O extends Operation>(operation: O, input: Input): Promise<ResultOf<O>>
  /** Opens the store for the time of the work, beside a service that may be running. */
  withStore<T>(work: (store: Store, tools: KeyTools) => Promise<T>): Promise<T>
}

export interface ClientInvocation extends Given {
  client: Client
  /** The service and the key that the client was made from. */
  session: { url: string; key: string; profile: string | null }
  /** The agent that `--agent` names, else the one that the key belongs to. */
  agent(): Promise<string>
  /**
   * Prints at once, for commands that go on: a line for a person, or the JSON with `--json`. Rejects where it could not
   * be written.
   */
  print(outcome: CommandResult): Promise<void>
  /** The same for a line that is what it is. */
  write(line: string): Promise<void>
  /** Aborted when the command is told to end, by Ctrl-C for one. */
  signal: AbortSignal
}

export interface LocalInvocation extends Given {
  env: NodeJS.ProcessEnv
  /** All commands, for those that speak of them. */
  sections: readonly Section[]
}

export type OperatorRun = (call: OperatorInvocation) => Promise<CommandResult>
export type ClientRun = (call: ClientInvocation) => Promise<CommandResult>
export type LocalRun = (call: LocalInvocation) => Promise<CommandResult>

interface Described {
  /** `keys revoke <agent-id> <key-id>`: the words that name it, then what follows them. */
  usage: string
  summary: string
  /** `--name <text>`: what it stands for. A value such as `<a|b>` is one of these words. */
  options?: Readonly<Record<string, string>>
  examples: readonly string[]
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

/** Needs neither. */
export interface LocalCommand extends Described {
  kind: 'local'
  load(): Promise<{ run: LocalRun }>
}

/** `start`: the process becomes the service. */
export interface ServiceCommand extends Described {
  kind: 'service'
}

export type Command = OperatorCommand | ClientCommand | LocalCommand | ServiceCommand

/** Commands that help shows together. */
export interface Section {
  title: string
  /** What the first word of several commands stands for. */
  groups?: Readonly<Record<string, string>>
  commands: readonly Command[]
}

const ARGUMENT = /^[<[]/

/** `keys revoke` */
export const wordsOf = ({ usage }: Command): string[] => usage.split(' ').filter((part) => !ARGUMENT.test(part))

/** `<agent-id>`, `<key-id>` */
export const argumentsOf = ({ usage }: Command): string[] => usage.split(' ').filter((part) => ARGUMENT.test(part))

const COMMON = { '--json': 'print the response as JSON' }
const CONNECTION = {
  '--profile <name>': 'the profile to use; SENSORIUM_PROFILE or the current one where it is left out',
  '--url <address>':
    'the service that SENSORIUM_KEY is for; SENSORIUM_URL or http://localhost:8080 where it is left out',
}

/** Every option that a command takes. */
export const optionsOf = ({ kind, options = {} }: Command): Readonly<Record<string, string>> => ({
  ...options,
  ...COMMON,
  ...(kind === 'client' ? CONNECTION : {}),
})

/** `sensorium tenant create <slug> [options]` */
export const usageOf = (command: Command): string =>
  `sensorium ${command.usage}${command.options === undefined ? '' : ' [options]'}`

/** The command line means nothing: the sentence says what would. */
export class Misused extends Error {
  readonly expected: string

  constructor(sentence: string, expected: string) {
    super(sentence)
    this.expected = expected
  }
}

/** Ended by Ctrl-C or a signal before it was done. */
export class Interrupted extends Error {}

/** What this command does not do, and the command line that does. */
export class Unsupported extends Error {
  readonly instead: string

  constructor(why: string, instead: string) {
    super(`${why}:\n\n  ${instead}\n`)
    this.instead = instead
  }
}
