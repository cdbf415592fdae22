// The messages between the workers behind one port and the primary process, which runs them.
import type { MetricsOfProcess } from '../http/metrics.ts'

export type ToPrimary =
  /** The worker listens at this address. */
  | { kind: 'ready'; url: string }
  /** A client asked this worker for the metrics of all workers. */
  | { kind: 'metrics_wanted'; ask: number }
  | { kind: 'metrics'; ask: number; own: MetricsOfProcess }

export type ToWorker =
  | { kind: 'stop'; signal: string }
  | { kind: 'collect_metrics'; ask: number }
  /** The metrics of the workers that sent theirs in time. */
  | { kind: 'all_metrics'; ask: number; all: MetricsOfProcess[] }
