// Returns the versions of a memory, newest first, to every caller who sees the memory: those that the caller would have
// seen then. What a memory said before it was shared more widely was not meant for those it is shared with now.
import type { Principal } from '../auth/principal.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import { joined, type JsonBody } from '../kernel/json-body.ts'
import { WHOLE_LENGTH } from '../kernel/lengths.ts'
import type { Store } from '../store/db.ts'
import { requireMemory } from './get.ts'
import { readParts } from './long-metadata.ts'
import { maySee } from './see.ts'
import { lockSeenMemory, type MemoryRow } from './sql.ts'
import { storedBytes } from './stored-bytes.ts'
import { bytesOfVersions, readVersions, wholeAtEnd, type Field, type Version, type Versioned } from './versions.ts'

async function* fieldJson(store: Store, memory: MemoryRow, state: Versioned, name: Field): AsyncGenerator<string> {
  if (name === 'metadata' && state.metadata_id !== null) {
    const parts = await readParts(store, memory.tenant_id, state)
    if (parts === null) throw notFound('memory', memory.id) // erased meanwhile
    yield '"metadata":'
    return yield* parts
  }
  if (name === 'metadata') return yield `"metadata":${state.metadata}`
  const value = state[name]
  const isTime = /_(at|date)$/.test(name)
  yield `"${name}":${JSON.stringify(isTime ? isoOrNull(value as number | null) : value)}`
}

async function* versionJson(store: Store, memory: MemoryRow, one: Version): AsyncGenerator<string> {
  const { version, changedAt, changedBy, changed, state } = one
  const head = JSON.stringify({ version, changed_at: iso(changedAt), changed_by: changedBy })
  yield `${head.slice(0, -1)},"fields":{`
  for (const [i, name] of changed.entries()) {
    if (i > 0) yield ','
    yield* fieldJson(store, memory, state, name)
  }
  yield '}}'
}

async function* pieces(store: Store, principal: Principal, id: string, now: number): AsyncGenerator<string> {
  const { memory, versions } = await store.tx(async (tx) => {
    const locked = await lockSeenMemory(tx, principal, id, now)
    if (!locked) throw notFound('memory', id)
    // A version is seen as the memory is, with its own scope and team. A scope only widens, so those that are seen are
    // the newest.
    const { status, expires_at } = locked
    const isSeen = ({ state }: Version): boolean => maySee(principal, { ...locked, ...state, status, expires_at }, now)
    return { memory: locked, versions: wholeAtEnd((await readVersions(tx, locked)).filter(isSeen)) }
  })
  yield '{"versions":['
  for (const [i, version] of versions.entries()) {
    if (i > 0) yield ','
    yield* versionJson(store, memory, version)
  }
  yield ']}'
}

export async function historyOf(store: Store, principal: Principal, id: string, now: number): Promise<JsonBody> {
  const memory = await requireMemory(store, principal, id, now)
  const bytes = storedBytes(memory) + (await bytesOfVersions(store, memory))
  const body = pieces(store, principal, id, now)
  return bytes > WHOLE_LENGTH ? { pieces: body } : { text: await joined(body) }
}
