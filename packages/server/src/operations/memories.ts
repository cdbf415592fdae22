// /memories and their relationships. Search by meaning is in search.ts.
import { operations } from '@sensorium/contract'
import type { StepTurns } from '../kernel/step-turns.ts'
import { changeMemory } from '../memory/change.ts'
import { beginErasure, endErasure, eraseMemory } from '../memory/erase.ts'
import { forgetMemory } from '../memory/forget.ts'
import { getMemory } from '../memory/get.ts'
import { listMemories } from '../memory/list.ts'
import { prepareAudience, prepareChange, prepareTexts } from '../memory/prepare-texts.ts'
import { promoteMemory } from '../memory/promote.ts'
import { relate, unrelate } from '../memory/relate.ts'
import { remember, type MemoryTools } from '../memory/remember.ts'
import { traverse } from '../memory/traverse.ts'
import type { MemoryIndex } from '../memory/index/memory-index.ts'
import type { Similar } from '../memory/similar.ts'
import type { RelationshipRow } from '../memory/relationships-sql.ts'
import type { MemoryRow, WrittenMemory } from '../memory/sql.ts'
import { memoryParts, memoryPieces, relationshipJson } from '../memory/wire.ts'
import type { Store } from '../store/db.ts'
import { waitingPrincipal, type CallOptions } from './call.ts'
import { pauseOf } from './pause-of.ts'
import { withTexts } from './recorded-response.ts'
import { noContent, type OperationResponse, type StoredMemory } from './response.ts'
import { prepared, read, write, type Binding } from './binding.ts'

/** Metadata of more characters than this is sent in pieces, and is empty in a brief response. */
const LONG_METADATA = 65_536
/**
 * Of a longer response the record keeps no text of the memory. Otherwise a request of thirty bytes with a key, which
 * need not even change anything, would take 300 kB on disk for a day, and no quota counts them.
 */
const LONG_RECORD = 16_384

/** Returns the response that shows a memory. `more` is JSON text that follows the memory's own fields. */
export function shown(
  store: Store,
  status: number,
  row: WrittenMemory,
  { brief }: CallOptions,
  more = '',
): OperationResponse {
  const isLong = row.metadata_id !== null || row.metadata.length > LONG_METADATA
  const [before, metadata, after] = memoryParts(isLong && brief === true ? { ...row, metadata: '{}' } : row, more)
  const length = before.length + (row.metadata_bytes ?? metadata.length) + after.length
  const whole = () => ({ status, text: before + String(metadata) + after, resourceId: row.id })
  if (brief === true || length <= LONG_RECORD) return whole()
  const { title: _, content: __, metadata: ___, metadata_id: ____, metadata_bytes: _____, ...fields } = row
  const stored = { memoryId: row.id, updatedAt: row.updated_at, fields, more }
  if (!isLong) return { ...whole(), stored }
  // Metadata that came with the request is in memory until the response is over anyway. Stored metadata is read when
  // the response is written: three hundred responses that no client read held ten megabytes each.
  const pieces =
    typeof metadata === 'string' ? storedPieces(store, row as MemoryRow, stored) : [before, metadata, after]
  return { status, pieces, resourceId: row.id, stored }
}

/** A text beside its row is kept for a while after its memory has changed, whatever the history still has. */
async function* storedPieces(store: Store, row: MemoryRow, stored: StoredMemory): AsyncGenerator<string> {
  const pieces = row.metadata_id === null ? null : await memoryPieces(store, row, stored.more)
  if (pieces) yield* pieces
  else yield* withTexts(store, row.tenant_id, stored, null)
}

const related = (row: RelationshipRow): OperationResponse => ({
  status: 201,
  text: relationshipJson(row),
  resourceId: row.id,
})

interface MemoryOperationTools extends MemoryTools {
  store: Store
  index: MemoryIndex
  similar: Pick<Similar, 'compareNew'>
  steps: StepTurns
}

export const memoryOperations = (tools: MemoryOperationTools): Binding[] => {
  const { now, index, similar, store, steps } = tools
  return [
    read(operations.listMemories, async (call, db) => {
      const { principal, query, options } = call
      const reading = { now: now(), pause: pauseOf(steps, call), isBrief: options.brief }
      return {
        status: 200,
        ...(await listMemories(db, index.findText, principal, query, reading)),
      }
    }),

    // Similar memories are searched for before the transaction, if that takes only a moment.
    prepared(operations.createMemory, async (call) => {
      const { principal, body, options } = call
      const known = await similar.compareNew(principal, `${body.title}\n${body.content}`)
      const { kept, ended } = await prepareTexts(tools, waitingPrincipal(call), body)
      const more = known && known.similar.length > 0 ? `,"similar":${JSON.stringify(known.similar)}` : ''
      return {
        run: async (tx) =>
          shown(store, 201, await remember(tx, tools, principal, body, { ready: known?.vectors, kept }), options, more),
        ended,
      }
    }),

    // A write: fetching moves accessed_at.
    write(operations.getMemory, async ({ principal, params, options }, tx) =>
      shown(store, 200, await getMemory(tx, principal, params.id, now()), options),
    ),

    prepared(operations.updateMemory, async (call) => {
      const { principal, params, body, options } = call
      const { kept, ended } = await prepareChange(tools, waitingPrincipal(call), params.id, body)
      return {
        run: async (tx) => shown(store, 200, await changeMemory(tx, tools, principal, params.id, body, kept), options),
        ended,
      }
    }),

    prepared(operations.deleteMemory, async ({ principal, params, query }) => {
      const isErasure = query.erase === true
      if (isErasure) await beginErasure(store, tools, principal, params.id)
      return {
        run: async (tx) => {
          await (isErasure ? eraseMemory : forgetMemory)(tx, tools, principal, params.id)
          return noContent()
        },
        ...(isErasure && { isBegun: true, ended: () => endErasure(store, principal, params.id) }),
      }
    }),

    prepared(operations.promoteMemory, async (call) => {
      const { principal, params, body, options } = call
      await prepareAudience(tools, waitingPrincipal(call), params.id)
      return {
        run: async (tx) => shown(store, 200, await promoteMemory(tx, tools, principal, params.id, body), options),
      }
    }),

    write(operations.createRelationship, async ({ principal, params, body }, tx) =>
      related(await relate(tx, tools, principal, params.id, body)),
    ),

    read(operations.listRelationships, async (call, db) => {
      const { principal, params, query, options } = call
      const reading = { now: now(), pause: pauseOf(steps, call), isBrief: options.brief }
      return { status: 200, ...(await traverse(db, principal, params.id, query, reading)) }
    }),

    write(operations.deleteRelationship, async ({ principal, params }, tx) => {
      await unrelate(tx, now(), principal, params.id, params.rel_id)
      return noContent()
    }),
  ]
}
