// Exporting and importing memories, one line of JSON each.
import { MemoryCreate } from './memories.ts'
import { operation } from './operation.ts'
import { RelationshipCreate } from './relationships.ts'
import { Type, type Static, dateTime, filledText, jsonObject } from './shapes.ts'

export const NDJSON = 'application/x-ndjson'
/** The largest import, in bytes. */
export const MAX_IMPORT = 104_857_600

/** A memory in an import: as an export writes it, or as it is created. */
export const MemoryLine = Type.Object({
  ...MemoryCreate.properties,
  id: Type.Optional(filledText(255, { examples: ['mem_01hv3k8z9q4m7t2x5c6w8r0s1d'] })),
  // Whose the memory was. Files of other systems may have anything here.
  tenant_id: Type.Optional(Type.Unknown()),
  agent_id: Type.Optional(Type.Unknown()),
  created_at: Type.Optional(dateTime()),
  updated_at: Type.Optional(dateTime()),
})

export const RelationshipLine = Type.Object({
  source_memory_id: filledText(255, { expected: 'the id of a memory', examples: ['mem_01hv3k8z9q4m7t2x5c6w8r0s1d'] }),
  ...RelationshipCreate.properties,
})

export const ImportedMemories = Type.Object(
  {
    created: Type.Integer({ examples: [98] }),
    updated: Type.Integer({ examples: [1] }),
    skipped: Type.Integer({ examples: [0], description: 'Lines that changed nothing.' }),
    failed: Type.Integer({ examples: [1], description: 'Lines that were refused.' }),
    errors: Type.Array(
      Type.Object({
        line: Type.Integer({ minimum: 1, examples: [7] }),
        error: Type.Object({
          code: Type.String({ examples: ['validation_failed'] }),
          message: Type.String({ examples: ['title must be a non-empty string'] }),
          details: jsonObject(),
        }),
      }),
      { description: 'The first 1,000 refused lines, with their line numbers.' },
    ),
  },
  { $id: 'ImportedMemories' },
)
export type ImportedMemories = Static<typeof ImportedMemories>

const LINES =
  '{"id":"mem_01hv3k8z9q4m7t2x5c6w8r0s1d","type":"semantic","scope":"agent","title":"Deploys on Friday fail","content":"Three of four."}\n'

const tag = 'Memories'

export const memoryTransferOperations = {
  exportMemories: operation({
    id: 'exportMemories',
    summary: 'Export memories and their relationships',
    description:
      'Returns everything that the caller can see as newline-delimited JSON: memories, oldest first, then the relationships between them. ' +
      'The response is produced while it is read. `accessed_at` is not updated.',
    tag,
    method: 'GET',
    path: '/memories/export',
    access: { scope: 'memory:read' },
    query: Type.Object({
      since: Type.Optional(
        dateTime({
          description:
            'Exports only memories updated at or after this time, and relationships that were created or changed then or whose source or target was. ' +
            'To bring a copy up to date, use a time five minutes before the previous export: a change is dated when it is begun.',
        }),
      ),
    }),
    produces: NDJSON,
    success: {
      200: {
        description: 'A Memory or a Relationship on each line',
        schema: Type.String({ examples: [LINES], description: 'Newline-delimited JSON.' }),
      },
    },
  }),
  importMemories: operation({
    id: 'importMemories',
    summary: 'Import memories and relationships',
    description:
      'Accepts up to 100 MiB of newline-delimited JSON, in the format of an export. A line is a memory (the body of a creation, ' +
      'optionally with `id`, `created_at` and `updated_at`) or a relationship. The caller owns the memories that are created. Ids are mapped, ' +
      'external ids upsert, and lines that were imported before are skipped. Each line succeeds or fails independently.',
    tag,
    method: 'POST',
    path: '/memories/import',
    access: { scope: 'memory:write' },
    consumes: [NDJSON],
    body: Type.String({ examples: [LINES], description: 'Newline-delimited JSON.' }),
    checksBody: true,
    bodyLimit: 'import',
    success: {
      200: { description: 'How many lines were created, updated, skipped or refused', schema: ImportedMemories },
    },
  }),
} as const
