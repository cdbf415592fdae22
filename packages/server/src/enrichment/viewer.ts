// Returns the viewer of a mailbox: its memories are those that its agent sees, in the team that the agent is in now.
import { findAgent } from '../agents/sql.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Viewer } from '../memory/see.ts'
import type { Db } from '../store/db.ts'

export async function viewerOf(db: Db, { tenantId, recipientId }: Mailbox): Promise<Viewer> {
  const agent = await findAgent(db, tenantId, recipientId)
  return { kind: agent ? 'agent' : 'org_admin', id: recipientId, tenantId, teamId: agent?.team_id ?? null }
}
