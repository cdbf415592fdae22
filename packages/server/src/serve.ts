// One node: store → app → listen, and its end. Alone in its process, or one of several workers behind the port.
import { makeApp } from './app.ts'
import type { Config } from './config.ts'
import { makeMetrics } from './http/metrics.ts'
import { systemClock } from './kernel/clock.ts'
import type { Logger } from './kernel/logger.ts'
import { openStore, type Opened } from './store/open.ts'
import type { Worker } from './workers/worker.ts'

/** Connections that transactions share, divided among the workers. */
const POOL = 10
/** The least of them for one worker: as many transactions as gain from running at the same time. */
const LEAST_POOL = 4

/** A store that does not respond must not hold the process for ever. */
const STOP_WITHIN_MS = 15_000

interface Node {
  /** The address that it listens at. */
  url: string
  store: Opened['store']
  /** Serves on for DRAIN_S, then refuses new requests, finishes those that were accepted, and ends the process. */
  stop(signal: string): Promise<void>
  /** Ends the time in which `stop` serves on. Returns false if that is over. */
  hurry(): boolean
}

/** Opens the store and serves it. `first` runs on the store before the port opens. */
export async function serve(
  config: Config,
  log: Logger,
  worker: Worker | null,
  first: (opened: Opened) => Promise<void> = async () => {},
): Promise<Node> {
  const metrics = makeMetrics(worker?.shareMetrics)
  const opened = await openStore(config, systemClock, {
    observe: metrics.store,
    warn: (what, error) => log.warn({ err: error }, what),
    poolSize: Math.max(LEAST_POOL, Math.ceil(POOL / config.workers)),
  })
  await first(opened)
  // The app's background work takes over steps of the clock (delivery/move-with-clock.ts).
  if (!opened.store.isShared) systemClock.holdSteps()
  const app = makeApp({
    config,
    ...opened,
    clock: systemClock,
    log,
    metrics,
    ...(worker ? { siblings: worker.siblings(config.workers) } : {}),
  })
  const url = await app.listen()
  return {
    url,
    store: opened.store,
    hurry: app.cutNoticeShort,
    async stop(signal) {
      if (config.drainS > 0) {
        log.info({ signal, drain_s: config.drainS }, 'not ready any more, and still serving')
        await app.giveNotice()
      }
      log.info({ signal }, 'finishing what was taken, then stopping')
      const late = setTimeout(() => {
        log.error('not everything could be finished; what was answered is on disk')
        log.flush(() => process.exit(1))
      }, STOP_WITHIN_MS)
      await app.close()
      clearTimeout(late)
      log.flush(() => process.exit(0))
    },
  }
}
