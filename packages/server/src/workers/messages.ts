// What the workers behind one port and the process that keeps them tell each other.
import type { MetricsOfProcess } from '../http/metrics.ts'

export type ToPrimary =
  /** It listens, at this address. */
  | { kind: 'ready'; url: string }
  /** Somebody asked this worker for the metrics of all. */
  | { kind: 'metrics_wanted'; ask: number }
  | { kind: 'metrics'; ask: number; own: MetricsOfProcess }

export type ToWorker =
  | { kind: 'stop'; signal: string }
  | { kind: 'collect_metrics'; ask: number }
  /** Of the workers that told theirs in time. */
  | { kind: 'all_metrics'; ask: number; all: MetricsOfProcess[] }
