// A command of the line: the words that name it, what follows them, and what it answers. A command of the operator that
// is also an operation of the HTTP door gives the same checks and the same answer; `--json` prints it.
import type { Operation, TSchema } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import type { Config } from '../config.ts'
import { makeCompileCheck, readQuery } from '../http/validate.ts'
import type { Clock } from '../kernel/clock.ts'
import { invalid } from '../kernel/failure.ts'
import type { Store } from '../store/db.ts'

export interface Invocation {
  /** What follows the command's words, in the order of `parameters`. */
  args: readonly string[]
  options: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** The environment as configuration; refuses a wrong one. */
  config(): Config
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
  /** Each option takes a value: name → what it stands for. */
  options?: Readonly<Record<string, string>>
  summary: string
  run(call: Invocation): Promise<Outcome>
}

/** `tenant create <slug> [--name <text>]` */
export const usageOf = ({ words, parameters, options = {} }: Command): string =>
  [
    ...words,
    ...parameters.map((name) => `<${name}>`),
    ...Object.entries(options).map(([name, what]) => `[--${name} <${what}>]`),
  ].join(' ')

function check(schema: TSchema, value: unknown, secrets?: readonly string[]): void {
  const wrong = makeCompileCheck([])(schema, secrets)(value)
  if (wrong) throw invalid(wrong)
}

/** Leaves out what was not given and refuses what the HTTP door would. */
export function checkedBody<T extends Record<string, unknown>>(operation: Operation, given: T): T {
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
  if (operation.body) check(operation.body, body, operation.secrets)
  return body
}

export function checkedQuery(operation: Operation, given: Record<string, string | undefined>): Record<string, unknown> {
  const query = operation.query ? readQuery(operation.query, given) : {}
  if (operation.query) check(operation.query, query)
  return query
}

/** What this command does not do, and the command line that does. */
export class Unsupported extends Error {
  readonly instead: string

  constructor(why: string, instead: string) {
    super(`${why}:\n\n  ${instead}\n`)
    this.instead = instead
  }
}
