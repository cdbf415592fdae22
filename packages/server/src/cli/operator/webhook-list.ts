import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { table } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'

export const run: OperatorRun = async ({ options, call }) => {
  const json = await call(operations.listWebhooks, { query: options })
  const rows = json.webhooks.map(({ id, tenant, source, preset, own_url, created_at }) => [
    id,
    tenant,
    source,
    preset ?? '',
    own_url,
    when(created_at),
  ])
  return {
    json,
    text: `${table(['id', 'tenant', 'source', 'preset', 'own url', 'created'], rows)}\n${rows.length} of ${json.total}`,
  }
}
