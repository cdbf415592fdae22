import { notFound } from '../../kernel/failure.ts'
import type { Announce } from '../../store/announce.ts'
import type { Db } from '../../store/db.ts'
import { requireConnector } from './shown-connector.ts'
import { deleteConnectorRow } from './sql.ts'

export async function deleteConnector(db: Db, announce: Announce, id: string): Promise<void> {
  const row = await requireConnector(db, id)
  if ((await deleteConnectorRow(db, row.tenant_id, id)) === 0) throw notFound('connector', id)
  announce(db, 'connectors', '')
}
