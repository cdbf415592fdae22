// A worker's connection to the primary process.
import cluster from 'node:cluster'
import type { MetricsOfProcess, ShareMetrics } from '../http/metrics.ts'
import type { ToPrimary, ToWorker } from './messages.ts'

export interface Worker {
  /** The number of this worker. A worker that replaces another has a number of its own. */
  id: number
  ready(url: string): void
  /** Registers a function that is called when the whole service is to stop. */
  onStop(stop: (signal: string) => void): void
  shareMetrics: ShareMetrics
}

/** Longer than the primary waits for the other workers. */
const GATHERED_WITHIN_MS = 3_000

/** Returns null in a process that is not a worker. */
export function joinPrimary(): Worker | null {
  const { worker } = cluster
  if (!worker) return null
  const waiting = new Map<number, (all: MetricsOfProcess[]) => void>()
  const tell = (message: ToPrimary): void => void (worker.isConnected() && worker.send(message))
  let asks = 0
  // Until `onStop` is called: the worker does not serve anybody yet.
  let stop: (signal: string) => void = () => process.exit(0)
  let collect: () => Promise<MetricsOfProcess> = async () => []

  worker.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') stop(message.signal)
    else if (message.kind === 'all_metrics') waiting.get(message.ask)?.(message.all)
    else if (message.kind === 'collect_metrics')
      void collect().then((own) => tell({ kind: 'metrics', ask: message.ask, own }))
  })

  return {
    id: worker.id,
    ready: (url) => tell({ kind: 'ready', url }),
    onStop: (hear) => void (stop = hear),
    shareMetrics(own) {
      collect = own
      return async () => {
        const ask = ++asks
        const all = await new Promise<MetricsOfProcess[]>((resolve) => {
          waiting.set(ask, resolve)
          setTimeout(() => resolve([]), GATHERED_WITHIN_MS).unref()
          tell({ kind: 'metrics_wanted', ask })
        })
        waiting.delete(ask)
        return all.length > 0 ? all : [await own()]
      }
    },
  }
}
