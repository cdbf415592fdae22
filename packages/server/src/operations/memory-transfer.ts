// GET /memories/export and POST /memories/import
import { MemoryLine, operations, RelationshipLine } from '@sensorium/contract'
import { exportMemories } from '../memory/transfer/export.ts'
import { importMemories, type ImportTools } from '../memory/transfer/import.ts'
import { own, read, type Binding } from './binding.ts'
import type { Db } from '../store/db.ts'
import { goneOf } from './call.ts'
import { ok } from './response.ts'
import type { CompileCheck } from './validate.ts'

interface MemoryTransferTools extends Omit<ImportTools, 'checkMemory' | 'checkRelationship' | 'begun'> {
  compileCheck: CompileCheck
}

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export function memoryTransferOperations({ compileCheck, ...tools }: MemoryTransferTools): Binding[] {
  const { store, now } = tools
  const checks = { checkMemory: compileCheck(MemoryLine), checkRelationship: compileCheck(RelationshipLine) }
  return [
    read(operations.exportMemories, async ({ principal, query: { since } }) => ({
      status: 200,
      pieces: exportMemories(store, principal, {
        since: since === undefined ? null : Date.parse(since),
        now: now(),
      }),
    })),

    // Runs many transactions of its own; the record of the response is written after the last.
    own(
      operations.importMemories,
      async ({ principal, body, options }, record) => {
        const pieces = body as unknown as Pieces
        const waiting = { isGone: goneOf(options), mayGoOn: async () => options.requireStanding?.() }
        const begun = async (tx: Db): Promise<void> => record?.reserve(tx)
        const imported = await importMemories({ ...tools, ...checks, begun }, principal, pieces, waiting)
        const response = ok(imported)
        if (record) await store.tx((tx) => record(tx, response))
        return response
      },
      (value) => [Buffer.from(String(value))] as never,
    ),
  ]
}
