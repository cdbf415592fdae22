// environment → configuration → store → app → listen → signals
import { makeApp } from './app.ts'
import { bootstrap, welcome } from './bootstrap.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { makeMetrics } from './http/metrics.ts'
import { systemClock } from './kernel/clock.ts'
import { idMaker } from './kernel/ids.ts'
import { makeLogger } from './kernel/logger.ts'
import { makeDataDirectory } from './store/data-directory.ts'
import { openStore } from './store/open.ts'
import { ownDirectory } from './store/own-directory.ts'

/** What a person on this machine would type to reach the service. */
function address(config: Config, listening: string): string {
  if (config.publicUrl) return config.publicUrl
  const url = new URL(listening)
  if (['0.0.0.0', '[::]', '127.0.0.1', '[::1]'].includes(url.hostname)) url.hostname = 'localhost'
  return url.origin
}

/** A store that does not answer must not hold the process for ever. */
const STOP_WITHIN_MS = 15_000

async function run(): Promise<void> {
  process.umask(0o077) // whatever is made here is its owner's alone
  const config = readConfig(process.env)
  const log = makeLogger(config.logLevel)
  if (config.databaseUrl === null) {
    makeDataDirectory(config.dataDir)
    ownDirectory(config.dataDir)
  }
  const metrics = makeMetrics()
  const { store, secrets } = await openStore(config, systemClock, {
    observe: metrics.store,
    warn: (what, error) => log.warn({ err: error }, what),
  })
  const adminKey = await bootstrap(store, config, { makeId: idMaker(systemClock.now), secrets, now: systemClock.now })
  const app = makeApp({ config, store, secrets, clock: systemClock, log, metrics })
  const url = address(config, await app.listen())
  const givenKey = config.bootstrapAdminKey !== null
  process.stdout.write(welcome({ url, adminKey, givenKey, hasConsole: config.console }) + '\n')
  log.info({ url, store: store.name }, 'ready')

  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, async () => {
      if (stopping) process.exit(130) // asked twice: now
      stopping = true
      log.info({ signal }, 'finishing what was taken, then stopping')
      const late = setTimeout(() => {
        log.error('not everything could be finished; what was answered is on disk')
        log.flush(() => process.exit(1))
      }, STOP_WITHIN_MS)
      await app.close()
      clearTimeout(late)
      log.flush(() => process.exit(0))
    })
  }
}

run().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.message : `Sensorium did not start: ${(error as Error).message}`)
  process.exit(1)
})
