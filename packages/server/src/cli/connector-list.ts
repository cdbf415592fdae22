import { operations } from '@sensorium/contract'
import { listConnectors } from '../ingest/connectors/list.ts'
import type { Page } from '../ingest/registration.ts'
import { checkedQuery, type Command } from './command.ts'
import { table } from './table.ts'

export const connectorList: Command = {
  words: ['connector', 'list'],
  parameters: [],
  options: { tenant: 'slug', offset: 'number', limit: 'number' },
  summary: 'List the connectors, newest first: what each is doing and what it received',
  async run({ options, clock, withStore }) {
    const page = checkedQuery(operations.listConnectors, { ...options }) as Page
    const json = await withStore((store) => listConnectors(store, clock.now(), page))
    const rows = json.connectors.map(({ id, tenant, source, address, state, counters, last_error }) => [
      id,
      tenant,
      source,
      address,
      state,
      counters.accepted,
      counters.duplicates,
      counters.released,
      counters.rejected,
      last_error ?? '',
    ])
    const head = [
      'id',
      'tenant',
      'source',
      'address',
      'state',
      'accepted',
      'duplicates',
      'released',
      'rejected',
      'last error',
    ]
    return { json, text: `${table(head, rows)}\n${rows.length} of ${json.total}` }
  },
}
