// Returns the versions of a memory, newest first, to every caller who sees the memory.
import type { Principal } from '../auth/principal.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import { joined, LARGE, type JsonBody } from '../kernel/json-body.ts'
import type { Store } from '../store/db.ts'
import { requireMemory } from './get.ts'
import { lockSeenMemory } from './sql.ts'
import { bytesOfVersions, readVersions, type Version, type Versioned } from './versions.ts'

function fieldJson(state: Versioned, name: keyof Versioned): string {
  if (name === 'metadata') return `"metadata":${state.metadata}`
  const value = state[name]
  const isTime = /_(at|date)$/.test(name)
  return `"${name}":${JSON.stringify(isTime ? isoOrNull(value as number | null) : value)}`
}

function versionJson({ version, changedAt, changedBy, changed, state }: Version): string {
  const head = JSON.stringify({ version, changed_at: iso(changedAt), changed_by: changedBy })
  return `${head.slice(0, -1)},"fields":{${changed.map((name) => fieldJson(state, name)).join(',')}}}`
}

async function* pieces(store: Store, principal: Principal, id: string, now: number): AsyncGenerator<string> {
  const versions = await store.tx(async (tx) => {
    const memory = await lockSeenMemory(tx, principal, id, now)
    if (!memory) throw notFound('memory', id)
    return readVersions(tx, memory)
  })
  yield '{"versions":['
  for (const [i, version] of versions.entries()) yield `${i === 0 ? '' : ','}${versionJson(version)}`
  yield ']}'
}

export async function historyOf(store: Store, principal: Principal, id: string, now: number): Promise<JsonBody> {
  const memory = await requireMemory(store, principal, id, now)
  const { title, content, metadata } = memory
  const bytes = title.length + content.length + metadata.length + (await bytesOfVersions(store, memory))
  const body = pieces(store, principal, id, now)
  return bytes > LARGE ? { pieces: body } : { text: await joined(body) }
}
