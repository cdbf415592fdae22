// What takes long about the texts of a memory is done before the transaction that writes them: their words are
// analysed, and long metadata is written.
import { isId, type MemoryUpdate, type Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { one, type Reads } from '../store/db.ts'
import { withDerived } from './derived-from.ts'
import { discardUnlessNamed } from './discard-metadata.ts'
import { LONG, NOTHING_AHEAD, type Ahead, type WaitingCaller } from './index/analyse.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { keepAhead, keepBytes, type KeepAheadTools } from './keep-ahead.ts'
import { readParts, type MetadataColumns } from './long-metadata.ts'
import { othersThan, type NotedAhead } from './merge.ts'
import { storable } from './remember.ts'
import { mayAdminister } from './see.ts'
import { findSeenHead, findSeenMemory, type MemoryRow } from './sql.ts'

type Changes = Static<typeof MemoryUpdate>

/** Texts are analysed only while the client of the principal waits for it. */
export type WaitingPrincipal = Principal & WaitingCaller

interface PrepareTools extends KeepAheadTools {
  index: Pick<MemoryIndex, 'analyseAhead'>
}

export interface PreparedTexts {
  /** The metadata that was written; null if it is short, or if there is no room. */
  kept: MetadataColumns | null
  /** Called when the transaction is over, however it ended. Resolves when the memory is found by its words. */
  ended(): void | Promise<void>
}

const NOTHING: PreparedTexts = { kept: null, ended() {} }

/** With an external id, the memory of the caller that has it is replaced. */
export async function prepareTexts(
  tools: PrepareTools,
  principal: WaitingPrincipal,
  { title, content, metadata }: { title: string; content: string; metadata?: unknown },
  externalId?: string,
): Promise<PreparedTexts> {
  const { written } = await tools.index.analyseAhead(principal, title, content)
  if (externalId === undefined) return prepareMetadata(tools, principal, metadata, { written })
  const replaced = () =>
    metadataBytes(tools.store, `agent_id = ? and external_id = ? and status = 'active'`, [
      principal.tenantId,
      principal.id,
      externalId,
    ])
  return prepareMetadata(tools, principal, metadata, { written, replaced })
}

async function prepareMetadata(
  tools: PrepareTools,
  principal: Principal,
  metadata: unknown,
  { written, replaced }: Ahead & { replaced?: () => Promise<number> },
): Promise<PreparedTexts> {
  const kept = await keepAhead(tools, principal, metadata, replaced)
  return {
    kept,
    ended() {
      discardUnlessNamed(tools.store, principal, kept)
      return written()
    },
  }
}

/** Returns the bytes of the metadata of a memory, 0 if there is none. */
async function metadataBytes(db: Reads, which: string, values: [tenantId: string, ...string[]]): Promise<number> {
  // One memory of the tenant.
  const row = await one<{ bytes: number }>(
    db,
    `select coalesce(metadata_bytes, octet_length(metadata)) as bytes from memories where tenant_id = ? and ${which}`,
    values,
  )
  return Number(row?.bytes ?? 0)
}

/** Prepares the texts and metadata of a change of a memory, if the caller may change it. */
export async function prepareChange(
  tools: PrepareTools,
  principal: WaitingPrincipal,
  id: string,
  { title, content, metadata }: Changes,
): Promise<PreparedTexts> {
  if (title === undefined && content === undefined && metadata === undefined) return NOTHING
  const head = isId('memory', id) ? await findSeenHead(tools.store, principal, id, tools.now()) : undefined
  if (!head || !mayAdminister(principal, head)) return NOTHING // changeMemory refuses it
  const { written } = await analyseChange(tools, principal, id, title, content)
  if (metadata === undefined) return { kept: null, ended: written }
  const replaced = () => metadataBytes(tools.store, 'id = ?', [principal.tenantId, id])
  return prepareMetadata(tools, principal, metadata, { written, replaced })
}

/** Reads and writes long metadata ahead of a merge: ten megabytes of it held the only writer for 0.3 s. */
export async function prepareMerge(
  tools: PrepareTools,
  principal: Principal,
  id: string,
  memoryIds: readonly string[],
): Promise<PreparedTexts & NotedAhead> {
  const { store, now } = tools
  const row = isId('memory', id) ? await findSeenMemory(store, principal, id, now()) : undefined
  const from = row?.metadata_id ?? null
  // mergeMemories refuses it, or has little to read.
  if (!row || from === null || !mayAdminister(principal, row)) return { ...NOTHING, from: null }
  const parts = await readParts(store, row.tenant_id, row)
  const before = parts?.join('')
  if (before === undefined) return { ...NOTHING, from: null }
  const metadata = withDerived(before, othersThan(id, memoryIds))
  if (metadata === before) return { ...NOTHING, from }
  const kept = await keepBytes(tools, principal, Buffer.from(metadata), row.metadata_bytes ?? 0)
  return { kept, from: kept && from, ended: () => discardUnlessNamed(store, principal, kept) }
}

/** Prepares the texts of a memory for a change of who sees it, with which they are indexed. */
export async function prepareAudience(
  { store, index, now }: Omit<PrepareTools, 'quotas'>,
  principal: WaitingPrincipal,
  id: string,
): Promise<void> {
  const head = isId('memory', id) ? await findSeenHead(store, principal, id, now()) : undefined
  if (!head || !mayAdminister(principal, head)) return // promoteMemory refuses it
  const known = await longTexts(store, principal.tenantId, id, LONG)
  if (known) await index.analyseAhead(principal, known.title, known.content)
}

/** Returns title and content of a memory, unless they have fewer bytes. */
const longTexts = (db: Reads, tenantId: string, id: string, bytes: number) =>
  // One memory.
  one<Pick<MemoryRow, 'title' | 'content'>>(
    db,
    'select title, content from memories where tenant_id = ? and id = ? and octet_length(title) + octet_length(content) >= ?',
    [tenantId, id, bytes],
  )

/** Title and content are indexed together: with one of them comes the other that the memory has. */
async function analyseChange(
  { store, index }: PrepareTools,
  principal: WaitingPrincipal,
  id: string,
  title: string | undefined,
  content: string | undefined,
): Promise<Ahead> {
  const sent = title ?? content
  if (sent === undefined) return NOTHING_AHEAD
  if (title !== undefined && content !== undefined) return index.analyseAhead(principal, title, content)
  // A text has at least as many bytes as characters.
  const known = await longTexts(store, principal.tenantId, id, Math.max(0, LONG - sent.length))
  if (!known || storable(sent) === (title === undefined ? known.content : known.title)) return NOTHING_AHEAD
  return index.analyseAhead(principal, title ?? known.title, content ?? known.content)
}
