// A tool: an operation as a language model sees it. Its name and description are written for the model, its results are
// small, and the operation that it calls decides what it may do.
import { Type, type Operation, type ResultOf, type Schema, type Static } from '@sensorium/contract'
import type { Pause } from '../kernel/step-turns.ts'

interface CallInput {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

/** An item of an operation that lists events. */
export type EventOf<O> =
  ResultOf<O> extends { deliveries: (infer I)[] } ? I : ResultOf<O> extends { events: (infer I)[] } ? I : never

/** The user of the tools, and how its operations are called: in process, or over HTTP through the client. */
export interface ToolCaller {
  /** The id of the agent or the org-admin. */
  readonly id: string
  /** Lets others have their turn, between two steps of long work. */
  readonly pause: Pause
  call<O extends Operation>(operation: O, input: CallInput): Promise<ResultOf<O>>
  /**
   * Calls an operation that lists events, and yields one after the other. In process, one event at a time is read, and
   * long data is a LongData.
   */
  events<O extends Operation>(operation: O, input: CallInput): AsyncGenerator<EventOf<O>>
}

export interface Tool {
  name: string
  title: string
  description: string
  input: Schema
  output: Schema
  /** Arguments that have another name in the API, by that name: a refusal names the argument. */
  argumentOf: Readonly<Record<string, string>>
  /** Changes nothing. */
  readOnly: boolean
  /** Doing it twice is the same as doing it once. */
  idempotent: boolean
  /** Removes something that no other tool can bring back. */
  destructive: boolean
  run(input: never, caller: ToolCaller): Promise<Record<string, unknown>>
}

interface Definition<I extends Schema> {
  name: string
  title: string
  description: string
  input: I
  output: Schema
  argumentOf?: Readonly<Record<string, string>>
  effect: 'reads' | 'adds' | 'sets' | 'removes'
  run(input: Static<I>, caller: ToolCaller): Promise<Record<string, unknown>>
}

/** A text as an argument. Its example is shown to the model, and again when what it gave is refused. */
export const argument = (example: string, keywords: Parameters<typeof Type.String>[0] = {}) =>
  Type.String({ ...keywords, examples: [example] })

export const idArgument = (prefix: string, description?: string) =>
  argument(`${prefix}_01hv3k8z9q4m7t2x5c6w8r0s1d`, description === undefined ? {} : { description })

export function tool<I extends Schema>({ effect, run, argumentOf = {}, ...rest }: Definition<I>): Tool {
  return {
    ...rest,
    argumentOf,
    readOnly: effect === 'reads',
    idempotent: effect !== 'adds',
    destructive: effect === 'removes',
    run: run as Tool['run'],
  }
}
