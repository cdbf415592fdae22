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
import { created, noContent, ok } from './response.ts'
import { read, write, type Binding } from './binding.ts'

export const memoryOperations = (tools: MemoryTools): Binding[] => {
  const { now } = tools
  return [
    read(operations.listMemories, async ({ principal, query }, db) =>
      ok(await listMemories(db, principal, query, now())),
    ),

    write(operations.createMemory, async ({ principal, body }, tx) =>
      created(await remember(tx, tools, principal, body)),
    ),

    // A write: fetching moves accessed_at.
    write(operations.getMemory, async ({ principal, params }, tx) =>
      ok(await getMemory(tx, principal, params.id, now())),
    ),

    write(operations.updateMemory, async ({ principal, params, body }, tx) =>
      ok(await changeMemory(tx, tools, principal, params.id, body)),
    ),

    write(operations.deleteMemory, async ({ principal, params }, tx) => {
      await forgetMemory(tx, now(), principal, params.id)
      return noContent()
    }),

    write(operations.promoteMemory, async ({ principal, params, body }, tx) =>
      ok(await promoteMemory(tx, now(), principal, params.id, body)),
    ),

    write(operations.createRelationship, async ({ principal, params, body }, tx) =>
      created(await relate(tx, tools, principal, params.id, body)),
    ),

    read(operations.listRelationships, async ({ principal, params, query }, db) =>
      ok(await traverse(db, principal, params.id, query, now())),
    ),

    write(operations.deleteRelationship, async ({ principal, params }, tx) => {
      await unrelate(tx, now(), principal, params.id, params.rel_id)
      return noContent()
    }),
  ]
}
