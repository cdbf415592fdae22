// The messages between the workers behind one port and the primary process, which runs them. A worker asks the others
// through the primary.
import type { MetricsOfProcess } from '../http/metrics.ts'

export type Question =
  | { about: 'metrics' }
  /** How many places of a kind a key has taken (kernel/shared-places.ts). */
  | { about: 'places'; kind: string; key: string }
  /** The keys that have taken more places of a kind than the share of a process. */
  | { about: 'beyond share'; kind: string }

export interface Answers {
  metrics: MetricsOfProcess
  places: number
  'beyond share': string[]
}

export type Answer = Answers[Question['about']]

export type ToPrimary =
  /** The worker listens at this address. */
  | { kind: 'ready'; url: string }
  | { kind: 'alive' }
  | { kind: 'ask'; ask: number; question: Question }
  | { kind: 'answer'; ask: number; about: Question['about']; answer: Answer }

export type ToWorker =
  | { kind: 'stop'; signal: string }
  /** Ends the time in which it serves on after `stop`. */
  | { kind: 'hurry' }
  /** Answered with `alive`. */
  | { kind: 'ping' }
  | { kind: 'question'; ask: number; question: Question }
  /** The answers that came in time, and for metrics the last counters of the workers whose answer did not. */
  | { kind: 'answers'; ask: number; answers: Answer[] }
