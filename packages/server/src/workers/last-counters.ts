// What workers last told of their counters and histograms. Prometheus takes a counter that falls for one that began
// again, and adds its whole value to the rate; so a worker that is late or has ended still counts.
import { AggregatorRegistry } from 'prom-client'
import type { MetricsOfProcess } from '../http/metrics.ts'

interface LastCounters<Worker> {
  keep(worker: Worker, metrics: MetricsOfProcess): void
  /** Adds the counters of a worker to those of all that have ended. */
  end(worker: Worker): void
  /** The counters of these workers, and of those that have ended. */
  of(workers: Iterable<Worker>): MetricsOfProcess[]
}

const grows = ({ type }: MetricsOfProcess[number]): boolean => ['counter', 'histogram'].includes(String(type))

export function makeLastCounters<Worker>(): LastCounters<Worker> {
  const last = new Map<Worker, MetricsOfProcess>()
  let ended: MetricsOfProcess = []

  return {
    keep: (worker, metrics) => void last.set(worker, metrics.filter(grows)),
    end(worker) {
      ended = sum([ended, last.get(worker) ?? []])
      last.delete(worker)
    },
    of: (workers) => [ended, ...[...workers].map((worker) => last.get(worker) ?? [])],
  }
}

/** Without prom-client's functions, which cannot be sent to a process. */
const sum = (all: MetricsOfProcess[]): MetricsOfProcess =>
  AggregatorRegistry.aggregate(all)
    .getMetricsAsArray()
    .map((metric) => ({ ...metric, get: undefined })) as unknown as MetricsOfProcess
