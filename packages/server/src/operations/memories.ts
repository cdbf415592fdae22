// /memories and their relationships. Search by meaning has a file of its own.
import { operations } from '@sensorium/contract'
import { changeMemory } from '../memory/change.ts'
import { forgetMemory } from '../memory/forget.ts'
import { getMemory } from '../memory/get.ts'
import { listMemories } from '../memory/list.ts'
import { promoteMemory } from '../memory/promote.ts'
import { relate, unrelate } from '../memory/relate.ts'
import { remember, type MemoryTools } from '../memory/remember.ts'
import { traverse } from '../memory/traverse.ts'
import type { MemoryIndex } from '../memory/index/memory-index.ts'
import type { MemoryRow, RelationshipRow } from '../memory/sql.ts'
import { memoryJson, relationshipJson } from '../memory/wire.ts'
import type { CallOptions } from './call.ts'
import { noContent, type OperationResponse } from './response.ts'
import { read, write, type Binding } from './binding.ts'

/** Metadata of more characters than this is no beginning of anything. */
const LONG_METADATA = 65_536

export function shown(status: number, row: MemoryRow, { brief }: CallOptions): OperationResponse {
  const isCut = brief === true && row.metadata.length > LONG_METADATA
  return { status, text: memoryJson(isCut ? { ...row, metadata: '{}' } : row), resourceId: row.id }
}
const related = (row: RelationshipRow): OperationResponse => ({
  status: 201,
  text: relationshipJson(row),
  resourceId: row.id,
})

export const memoryOperations = (tools: MemoryTools & { index: MemoryIndex }): Binding[] => {
  const { now, index } = tools
  return [
    read(operations.listMemories, async ({ principal, query, options }, db) => ({
      status: 200,
      ...(await listMemories(db, index.findText, principal, query, now(), options.brief)),
    })),

    write(operations.createMemory, async ({ principal, body, options }, tx) =>
      shown(201, await remember(tx, tools, principal, body), options),
    ),

    // A write: fetching moves accessed_at.
    write(operations.getMemory, async ({ principal, params, options }, tx) =>
      shown(200, await getMemory(tx, principal, params.id, now()), options),
    ),

    write(operations.updateMemory, async ({ principal, params, body, options }, tx) =>
      shown(200, await changeMemory(tx, tools, principal, params.id, body), options),
    ),

    write(operations.deleteMemory, async ({ principal, params }, tx) => {
      await forgetMemory(tx, tools, principal, params.id)
      return noContent()
    }),

    write(operations.promoteMemory, async ({ principal, params, body, options }, tx) =>
      shown(200, await promoteMemory(tx, tools, principal, params.id, body), options),
    ),

    write(operations.createRelationship, async ({ principal, params, body }, tx) =>
      related(await relate(tx, tools, principal, params.id, body)),
    ),

    read(operations.listRelationships, async ({ principal, params, query, options }, db) => ({
      status: 200,
      ...(await traverse(db, principal, params.id, query, now(), options.brief)),
    })),

    write(operations.deleteRelationship, async ({ principal, params }, tx) => {
      await unrelate(tx, now(), principal, params.id, params.rel_id)
      return noContent()
    }),
  ]
}
