import { notFound } from '../../kernel/failure.ts'
import { recordRoutingChange } from '../../routing/changes.ts'
import type { Db } from '../../store/db.ts'
import type { IngestTools } from '../registration.ts'
import { requireConnector } from './shown-connector.ts'
import { deleteConnectorRow } from './sql.ts'

export async function deleteConnector(
  db: Db,
  { announce, now }: Pick<IngestTools, 'announce' | 'now'>,
  id: string,
): Promise<void> {
  const row = await requireConnector(db, id)
  if ((await deleteConnectorRow(db, row.tenant_id, id)) === 0) throw notFound('connector', id)
  announce(db, 'connectors', '')
  await recordRoutingChange(db, row.tenant_id, 'source', id, now())
}
