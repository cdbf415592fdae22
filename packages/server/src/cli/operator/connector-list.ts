import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { table } from '../terminal/table.ts'

export const run: OperatorRun = async ({ options, call }) => {
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
}
