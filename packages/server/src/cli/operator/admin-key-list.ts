import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { table } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'

export const run: OperatorRun = async ({ args, call }) => {
  const json = await call(operations.listAdminKeys, { params: { slug: args[0]! } })
  const rows = json.keys.map(({ id, prefix, created_at, last_used_at }) => [
    id,
    prefix,
    when(created_at),
    when(last_used_at),
  ])
  return { json, text: table(['id', 'prefix', 'created', 'last used'], rows) }
}
