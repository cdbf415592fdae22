// environment → configuration → one node, or several workers behind one port → signals
import { bootstrap } from './bootstrap.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { systemClock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import { makeLogger, type Logger } from './kernel/logger.ts'
import { saysMisspelt } from './kernel/misspelt.ts'
import { serve } from './serve.ts'
import { openStore, ownStore, type Opened } from './store/open.ts'
import { keyLine, localAddress, welcome } from './welcome.ts'
import { FirstWorkerFailed, makeWorkers } from './workers/primary.ts'
import { joinPrimary, type Worker } from './workers/worker.ts'

const bootstrapOn =
  (config: Config) =>
  ({ store, secrets }: Opened): Promise<string | null> =>
    bootstrap(store, config, { makeId: idMaker(systemClock.now), secrets, now: systemClock.now })

function greet(config: Config, log: Logger, listening: string, adminKey: string | null, told: object): void {
  const { publicUrl, console: hasConsole } = config
  const givenKey = config.bootstrapAdminKey !== null
  process.stdout.write(welcome({ listening, publicUrl, adminKey, givenKey, hasConsole }) + '\n')
  log.info({ url: publicUrl ?? localAddress(listening), listening, ...told }, 'ready')
}

/** Shows the key of a first start that fails after the key was stored, for example because the port is in use. */
const orShowKey =
  (config: Config, adminKey: () => string | null) =>
  (error: unknown): never => {
    const key = config.bootstrapAdminKey === null ? adminKey() : null
    if (key !== null) process.stdout.write(`\n${keyLine(key)}\n\n`)
    throw error
  }

/**
 * Calls `stop` at the first signal, and `again` at every further one. A terminal that is closed may send SIGHUP twice,
 * by the system and by the shell, so a second SIGHUP counts for nothing.
 */
function onSignals(stop: (signal: string) => void, again: () => void): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) return signal === 'SIGHUP' ? undefined : again()
      stopping = true
      stop(signal)
    })
  }
}

async function runAlone(config: Config, log: Logger): Promise<void> {
  ownStore(config)
  let adminKey: string | null = null
  const makeFirstKey = async (opened: Opened): Promise<void> => {
    adminKey = await bootstrapOn(config)(opened)
  }
  const showKey = orShowKey(config, () => adminKey)
  const node = await serve(config, log, null, makeFirstKey).catch(showKey)
  // Before the node says that it listens: a process that waits for that may send a signal at once.
  onSignals(
    (signal) => void node.stop(signal),
    () => void (node.hurry() || process.exit(130)),
  )
  greet(config, log, node.url, adminKey, { store: node.store.name })
}

async function runWorkers(config: Config, log: Logger): Promise<void> {
  // Once for all workers: the schema, the first tenant, and what is wrong with the store.
  const opened = await openStore(config, systemClock, { poolSize: 2 })
  const adminKey = await bootstrapOn(config)(opened).finally(() => opened.store.close())
  const workers = makeWorkers(config.workers, log)
  onSignals(
    async (signal) => {
      log.info({ signal }, 'stopping the workers')
      const code = await workers.stop(signal, config.drainS * 1000)
      log.flush(() => process.exit(code))
    },
    () => {
      if (workers.hurry()) return
      workers.kill()
      process.exit(130)
    },
  )
  const showKey = orShowKey(config, () => adminKey)
  const url = await workers.start().catch(showKey)
  if (url !== '') greet(config, log, url, adminKey, { store: opened.store.name, workers: config.workers })
}

async function runWorker(config: Config, log: Logger, worker: Worker): Promise<void> {
  const node = await serve(config, log, worker)
  let stopping = false
  const stop = (signal: string): void => {
    if (stopping) return
    stopping = true
    void node.stop(signal)
  }
  worker.onStop(stop, node.hurry)
  // Ctrl-C, or the end of a terminal, reaches every process of it. Workers ignore it, because the primary tells them to
  // stop.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => stop('SIGTERM'))
  log.info({ pid: process.pid }, 'a worker is ready')
  log.flush(() => worker.ready(node.url))
}

async function run(): Promise<void> {
  process.umask(0o077) // only their owner can reach the files made here
  const config = readConfig(process.env)
  const worker = joinPrimary()
  const log = makeLogger(config.logLevel, worker?.id)
  if (worker) return runWorker(config, log, worker)
  for (const one of config.misspelt) log.warn({ variable: one.name }, saysMisspelt(one))
  return config.workers > 1 ? runWorkers(config, log) : runAlone(config, log)
}

run().catch((error: unknown) => {
  if (!(error instanceof FirstWorkerFailed))
    console.error(error instanceof ConfigError ? error.message : `Sensorium did not start: ${(error as Error).message}`)
  process.exit(1)
})
