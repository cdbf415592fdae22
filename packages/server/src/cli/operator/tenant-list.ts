import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { table } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'

export const run: OperatorRun = async ({ options, call }) => {
  const json = await call(operations.listTenants, { query: options })
  const rows = json.tenants.map(({ slug, name, id, created_at }) => [slug, name, id, when(created_at)])
  return { json, text: `${table(['slug', 'name', 'id', 'created'], rows)}\n${rows.length} of ${json.total}` }
}
