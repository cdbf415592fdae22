// Several processes behind one port. This one accepts connections and hands them to the workers in turn; each worker is
// a node of its own on the store that they share.
//
// 1. The first worker starts alone, so that a problem with the port or the store is reported once and ends the start.
// 2. A worker that dies is replaced. While workers die young, each replacement waits longer. One that hangs is killed.
// 3. A signal stops all of them as it stops one: accepted work is finished.
import cluster, { type Worker } from 'node:cluster'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { backoffMs } from '../kernel/backoff.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeNotice } from '../kernel/notice.ts'
import { makeGathering } from './gathering.ts'
import { LOOK_EVERY_MS, makeHangWatch } from './hang-watch.ts'
import type { ToPrimary, ToWorker } from './messages.ts'

const MAIN = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url))

const RESTART = { firstMs: 100, maxMs: 30_000 }
/** A worker that lived this long did not die of the same cause as the last one. */
const HEALTHY_AFTER_MS = 60_000
/** Longer than the time that a worker gives itself to stop. */
const STOP_WITHIN_MS = 17_000

interface Workers {
  /**
   * Resolves with the address once the first worker listens, and starts the others then. Rejects if the first one
   * cannot listen. The others are not waited for: what keeps one of them from starting must not hide the address and
   * the first key of a service that works.
   */
  start(): Promise<string>
  /** Stops all workers, which serve on for `noticeMs`. Resolves with the exit code once the last has ended. */
  stop(signal: string, noticeMs: number): Promise<number>
  /** Ends the time in which they serve on. Returns false if that is over. */
  hurry(): boolean
  /** Kills all workers at once. */
  kill(): void
}

/** Looks for workers that hang, from time to time. */
const lookOften = (look: () => void): void => void setInterval(look, LOOK_EVERY_MS).unref()

export function makeWorkers(count: number, log: Logger, watch = lookOften): Workers {
  // Not JSON, which has no value for a number that was not measured.
  cluster.setupPrimary({ exec: MAIN, args: [], serialization: 'advanced' })
  const gathering = makeGathering(tell)
  const hangWatch = makeHangWatch<Worker>(
    (worker) => tell(worker, { kind: 'ping' }),
    (worker) => {
      log.error({ worker: worker.id, pid: worker.process.pid }, 'a worker does not respond, and is killed')
      worker.process.kill('SIGKILL')
    },
  )
  watch(hangWatch.look)
  // Not those of `cluster`, which never drops a worker that died while a connection was handed to it.
  const running = new Set<Worker>()
  // The compile cache of the command. Without it a worker would compile everything again.
  const cache = module.getCompileCacheDir()
  const notice = makeNotice(systemClock)
  let stopping = false
  let failures = 0

  /** Starts a worker, which is replaced when it dies. Resolves when it listens. */
  function begin(isFirst: boolean): Promise<string> {
    const worker = cluster.fork(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache })
    const since = Date.now()
    running.add(worker)
    dropUntaken(worker)
    return new Promise((resolve, reject) => {
      let isReady = false
      worker.on('message', (message: ToPrimary) => {
        gathering.hear(worker, message)
        hangWatch.hear(worker)
        if (message.kind !== 'ready') return
        isReady = true
        hangWatch.begin(worker)
        resolve(message.url)
      })
      worker.on('error', (error) => log.error({ err: error, worker: worker.id }, 'a worker cannot be reached'))
      // Not `exit`: until `close` there may be messages of it to read.
      worker.process.once('close', (code, signal) => {
        running.delete(worker)
        gathering.end(worker)
        hangWatch.end(worker)
        if (stopping) return resolve('')
        // The worker has reported the reason itself.
        if (isFirst && !isReady) return reject(new FirstWorkerFailed())
        replace(worker, since, { code, signal }).then(resolve, () => {})
      })
    })
  }

  async function replace(
    worker: Worker,
    since: number,
    how: { code: number | null; signal: string | null },
  ): Promise<string> {
    failures = Date.now() - since > HEALTHY_AFTER_MS ? 1 : failures + 1
    const waitMs = backoffMs(RESTART, failures)
    log.error({ worker: worker.id, pid: worker.process.pid, ...how, waitMs }, 'a worker ended, another takes its place')
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    return stopping ? '' : begin(false)
  }

  return {
    async start() {
      const url = await begin(true)
      for (let i = 1; i < count && !stopping; i++) void begin(false)
      return url
    },
    async stop(signal, noticeMs) {
      stopping = true
      const ended = Promise.all(
        [...running].map((worker) => new Promise<number | null>((resolve) => worker.process.once('close', resolve))),
      )
      for (const worker of running) tell(worker, { kind: 'stop', signal })
      void ended.then(notice.cutShort)
      await notice.wait(noticeMs)
      const late = setTimeout(kill, STOP_WITHIN_MS)
      const codes = await ended
      clearTimeout(late)
      return codes.every((code) => code === 0) ? 0 : 1
    },
    hurry() {
      if (!notice.cutShort()) return false
      for (const worker of running) tell(worker, { kind: 'hurry' })
      return true
    },
    kill,
  }

  function kill(): void {
    stopping = true
    for (const worker of running) worker.process.kill('SIGKILL')
  }
}

/** The first worker could not start; it said why on standard error. */
export class FirstWorkerFailed extends Error {}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}

/**
 * Closes the connection that a worker had been handed when it died and had not taken. `cluster` waits for the worker's
 * reply to close or pass on its own descriptor of it, so that the client would wait for ever. It hands a worker one
 * connection at a time. (Rejected: workers that accept by themselves, one of which then got 1 of 128 connections.)
 */
function dropUntaken({ process: child }: Worker): void {
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  let untaken: { close(): void } | undefined
  child.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
    if (handle) untaken = handle as { close(): void }
    return send(message, handle, ...rest)
  }
  // Before `cluster` hears the reply, and hands it the next one.
  child.prependListener('internalMessage', ({ ack }: { ack?: number }) => {
    if (ack !== undefined) untaken = undefined
  })
  child.once('close', () => untaken?.close())
}
