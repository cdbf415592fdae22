// A command of the line: the words that name it, what follows them, and what it answers. A command of the operator that
// is also an operation of the HTTP door gives the same checks and the same answer; `--json` prints it.
import type { Operation, ResultOf } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Input } from '../operations/call.ts'
import type { Store } from '../store/db.ts'

export interface Invocation {
  /** What follows the command's words, in the order of `parameters`. */
  args: readonly string[]
  options: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** The environment as configuration; refuses a wrong one. */
  config(): Config
  /**
   * An option that holds a secret, and would show in the list of processes: `-` reads it from standard input, and left
   * out it is taken from an environment variable.
   */
  secret(option: string, variable: string): Promise<string | undefined>
  /** Carries out an operation of the operator on the store, as the HTTP door would, and gives back the body of its response. */
  call<O extends Operation>(operation: O, input: Input): Promise<ResultOf<O>>
  /** Opens the store for the time of the work, beside a service that may be running. */
  withStore<T>(work: (store: Store, tools: KeyTools) => Promise<T>): Promise<T>
}

export interface Outcome {
  /** What `--json` prints: the body of the HTTP answer, where there is one. */
  json: unknown
  /** What a person reads. */
  text: string
  exitCode?: number
}

export interface Command {
  words: readonly string[]
  parameters: readonly string[]
  /** What may follow the parameters, any number of times but at least once. */
  more?: string
  /** Each option takes a value: name → what it stands for. */
  options?: Readonly<Record<string, string>>
  summary: string
  run(call: Invocation): Promise<Outcome>
}

/** `tenant create <slug> [--name <text>]` */
export const usageOf = ({ words, parameters, more, options = {} }: Command): string =>
  [
    ...words,
    ...parameters.map((name) => `<${name}>`),
    ...(more ? [`<${more}>…`] : []),
    ...Object.entries(options).map(([name, what]) => `[--${name} <${what}>]`),
  ].join(' ')

/** What this command does not do, and the command line that does. */
export class Unsupported extends Error {
  readonly instead: string

  constructor(why: string, instead: string) {
    super(`${why}:\n\n  ${instead}\n`)
    this.instead = instead
  }
}
