// Checks everything that the service depends on, and the service itself if it runs here. Changes nothing.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import { ConfigError, type Config } from '../../config.ts'
import { iso, type Clock } from '../../kernel/clock.ts'
import { saysMisspelt } from '../../kernel/misspelt.ts'
import { makeSecrets } from '../../kernel/secrets.ts'
import { verifiedWeights } from '../../memory/embed/model.ts'
import { modelFolder, runtimePackage } from '../../memory/embed/model-files.ts'
import { storeFolder, tooOpen } from '../../store/data-directory.ts'
import type { Store } from '../../store/db.ts'
import { schemaStanding, schemaVersion } from '../../store/migrate.ts'
import { connect, fingerprintOf, requireWholeEngine, storeExists } from '../../store/open.ts'
import { readSecret } from '../../store/secret-file.ts'
import { tryWrite } from '../../store/write-watch.ts'
import type { OperatorRun } from '../command.ts'
import { paint } from '../terminal/screen.ts'
import { examineService } from './examine-service.ts'

interface Finding {
  ok: boolean
  detail: string
}

interface Check extends Finding {
  check: string
}

/** Adds a line to the report. If `examine` throws, the check has failed. */
type RunCheck = (name: string, examine: () => Finding | Promise<Finding>) => Promise<void>

const MIB = 1_048_576
/** With less, a write-ahead log and one night of events may not fit. */
const LEAST_FREE_BYTES = 512 * MIB
/**
 * Leases and limits follow the clock of the database, so nodes agree whatever their machines say. A machine that is
 * further off than this writes wrong times into its log and the `Date` header of its responses.
 */
const MOST_SKEW_MS = 1_000
/** A clock that shows an earlier time than this is wrong: this code is newer. */
const EARLIEST = Date.parse('2025-01-01T00:00:00Z')
const MODEL_TIMEOUT_MS = 3_000
/** Files that others may read; of more it says how many there are. */
const MOST_NAMED = 10

const fine = (detail: string): Finding => ({ ok: true, detail })
const wrong = (detail: string): Finding => ({ ok: false, detail })

export const run: OperatorRun = async ({ config, clock }) => {
  const checks: Check[] = []
  const check: RunCheck = async (name, examine) => {
    try {
      checks.push({ check: name, ...(await examine()) })
    } catch (error) {
      checks.push({ check: name, ...wrong((error as Error).message) })
    }
  }

  let settings: Config | undefined
  await check('configuration', () => {
    try {
      settings = config()
    } catch (error) {
      if (error instanceof ConfigError) return wrong(error.problems.join('; '))
      throw error
    }
    const folder = storeFolder(settings)
    const kept = folder === null ? 'PostgreSQL' : `the embedded store in ${path.resolve(folder)}`
    return fine([kept, ...settings.misspelt.map(saysMisspelt)].join('; '))
  })
  if (settings) await examine(settings, clock, check)

  const ok = checks.every(({ ok }) => ok)
  const text = checks
    .map(
      ({ check: name, ok: good, detail }) =>
        `${good ? paint('green', 'ok    ') : paint('red', 'failed')}  ${name.padEnd(13)}  ${detail}`,
    )
    .join('\n')
  return { json: { ok, checks }, text, exitCode: ok ? 0 : 1 }
}

async function examine(config: Config, clock: Clock, check: RunCheck): Promise<void> {
  let store: Store | null = null
  let hasStore = true // unless it is seen that there is none
  try {
    await check('store', async () => {
      hasStore = storeExists(config)
      if (hasStore) return examineStore((store = await connect(config, clock, { poolSize: 1 })))
      // A check must not create the store.
      requireWholeEngine(config)
      return fine('none yet; the first start makes it')
    })
    await check('secret', () => examineSecret(config, store))
    await check('disk', () => examineDisk(storeFolder(config)))
    await check('files', () => examineFiles(storeFolder(config)))
    await check('clock', () => examineClock(store, clock))
    await check('model', () => examineModel(config))
    await check('service', () => examineService(config, { hasStore }))
  } finally {
    await (store as Store | null)?.close()
  }
}

async function examineStore(store: Store): Promise<Finding> {
  const { current, newest } = await schemaStanding(store)
  if (current > newest) return wrong(`schema version ${current}; this release knows up to ${newest}`)
  await store.ping()
  if (current > 0) await tryWrite(store)
  return fine(
    `${store.name}, schema version ${current}${current < newest ? `; the next start brings it to ${newest}` : ''}`,
  )
}

async function examineSecret({ secret, dataDir }: Config, store: Store | null): Promise<Finding> {
  const master = secret ?? readSecret(dataDir)
  const source = secret === null ? 'kept in DATA_DIR' : 'SENSORIUM_SECRET'
  const made = store && (await schemaVersion(store)) > 0
  const fingerprint = made ? await fingerprintOf(store) : undefined
  if (fingerprint && master === null)
    return wrong('the secret this store was made with is missing: set SENSORIUM_SECRET, or bring its file back')
  if (fingerprint && master !== null && makeSecrets(master).fingerprint !== fingerprint)
    return wrong(`${source}: not the secret this store was made with`)
  return fine(master === null ? 'none yet; the first start makes it' : source)
}

function examineDisk(dataDir: string | null): Finding {
  if (dataDir === null) return fine('nothing is kept on this disk')
  // The data folder, or the nearest existing folder that it will be created in.
  let folder = path.resolve(dataDir)
  while (!existsSync(folder)) folder = path.dirname(folder)
  if (!statSync(folder).isDirectory()) return wrong(`${folder} is not a folder`)
  accessSync(folder, constants.W_OK)
  const { bavail, bsize } = statfsSync(folder)
  const text = `${Math.floor((bavail * bsize) / MIB)} MiB free in ${folder}`
  return bavail * bsize < LEAST_FREE_BYTES
    ? wrong(`${text}; at least ${LEAST_FREE_BYTES / MIB} MiB are needed`)
    : fine(text)
}

function examineFiles(dataDir: string | null): Finding {
  const open = dataDir === null ? [] : tooOpen(dataDir)
  if (open.length === 0) return fine('nobody else can read them')
  const named = open.slice(0, MOST_NAMED).map(({ file, mode }) => `${file} (mode ${mode})`)
  const more = open.length > MOST_NAMED ? ` and ${open.length - MOST_NAMED} more` : ''
  return wrong(`others may read ${named.join(', ')}${more}: chmod 600 them, or chmod 700 ${dataDir}`)
}

async function examineClock(store: Store | null, clock: Clock): Promise<Finding> {
  const before = clock.now()
  if (before < EARLIEST) return wrong(`it says ${iso(before)}`)
  const told = (await store?.serverTime()) ?? null
  if (told === null) return fine(iso(before))
  // The database read its clock at some moment between `before` and `after`.
  const after = clock.now()
  const skew = told < before ? told - before : told > after ? told - after : 0
  const text = `${iso(before)}, ${Math.abs(skew)} ms ${skew > 0 ? 'behind' : 'ahead of'} the database's`
  return Math.abs(skew) > MOST_SKEW_MS ? wrong(text) : fine(text)
}

async function examineModel({ embeddings }: Config): Promise<Finding> {
  if (embeddings.kind === 'builtin') {
    // The model is not loaded, which would take a second: only the package for this platform and intact weights may be
    // missing.
    runtimePackage()
    await verifiedWeights(modelFolder())
    return fine('builtin')
  }
  // Any response shows that the server is reachable, whatever its status for an empty request.
  await fetch(embeddings.url, { method: 'HEAD', signal: AbortSignal.timeout(MODEL_TIMEOUT_MS) }).catch(
    (error: Error) => {
      throw new Error(`${embeddings.url} cannot be reached: ${error.message}`)
    },
  )
  return fine(`${embeddings.model} at ${embeddings.url}`)
}
