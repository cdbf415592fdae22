import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const connectorList: Command = {
  words: ['connector', 'list'],
  parameters: [],
  options: { tenant: 'slug', offset: 'number', limit: 'number' },
  summary: 'List the connectors, newest first: what each is doing and what it received',
  async run({ options, call }) {
    const json = await call(operations.listConnectors, { query: options })
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
