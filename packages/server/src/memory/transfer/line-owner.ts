// Whose memory a line was, and which memories of the caller it may therefore not become. Pure.
//
// An external id is unique for its owner, so one file may have two memories of two owners under one external id. They
// must not become one memory of the caller:
//
// 1. A line of the caller, or of nobody, may become any memory of the caller.
// 2. A memory with an external id takes the lines of one other owner only, the first that came. Its note says which.
// 3. A memory that no other owner's line has reached yet takes those of owners in other tenants (external ids upsert),
//    but none by its external id of another owner in this tenant: that owner's memory is, or was, another one.
import { createHash } from 'node:crypto'
import type { MemoryLine, Static } from '@sensorium/contract'
import type { Principal } from '../../auth/principal.ts'
import type { MemoryRow } from '../sql.ts'

export type ImportedMemory = Static<typeof MemoryLine>

/** How a line's memory was found. A successor has the external id of a memory that is gone and that the line names. */
export type WayFound = 'id' | 'import' | 'external id' | 'successor'

type Named = Pick<MemoryRow, 'id' | 'external_id'>

const noteStart = ({ id }: Named): string => `@${id} `

export const isOwnerNote = (memory: Named, note: string): boolean => note.startsWith(noteStart(memory))

/**
 * Returns the note that a memory takes this line's owner's lines, or null if it needs none. It is kept with the ids of
 * lines, and has the memory's own id so that no line's id is taken for it. The owner may be any text, so it is hashed.
 */
export function ownerNote(principal: Principal, { agent_id }: ImportedMemory, memory: Named): string | null {
  if (memory.external_id === null || typeof agent_id !== 'string' || agent_id === principal.id) return null
  return noteStart(memory) + createHash('sha256').update(agent_id).digest('base64url')
}

/** Whether the line must not become the memory that was found for it. `notes` are those of the memory. */
export function isOfAnother(
  principal: Principal,
  line: ImportedMemory,
  { row, by }: { row: Named; by: WayFound },
  notes: readonly string[],
): boolean {
  const owner = by === 'import' || by === 'external id' ? ownerNote(principal, line, row) : null
  if (owner === null || notes.includes(owner)) return false
  const isOfThisTenant = (line.tenant_id ?? principal.tenantId) === principal.tenantId
  return (by === 'external id' && isOfThisTenant) || notes.some((note) => isOwnerNote(row, note))
}
