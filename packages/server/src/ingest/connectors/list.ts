import type { Connector } from '@sensorium/contract'
import type { Db } from '../../store/db.ts'
import { tenantIdOf, type RegistrationPage } from '../registration.ts'
import { shownConnector } from './shown-connector.ts'
import { pageConnectors } from './sql.ts'

interface ConnectorPage {
  connectors: Connector[]
  total: number
}

export async function listConnectors(db: Db, now: number, page: RegistrationPage): Promise<ConnectorPage> {
  const { rows, total } = await pageConnectors(db, await tenantIdOf(db, page), page.offset ?? 0, page.limit ?? 50)
  return { connectors: rows.map((row) => shownConnector(row, now)), total }
}
