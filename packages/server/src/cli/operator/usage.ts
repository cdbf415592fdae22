import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { table } from '../terminal/table.ts'

export const run: OperatorRun = async ({ args, call }) => {
  const json = await call(operations.getUsage, { query: { tenant: args[0] } })
  const rows = json.days.map((day) => [
    day.date,
    day.events,
    day.deliveries,
    day.acknowledgements,
    day.memories,
    day.searches,
  ])
  const text = table(['date', 'events', 'deliveries', 'acknowledgements', 'memories', 'searches'], rows)
  return { json, text: rows.length === 0 ? `${json.tenant} has used nothing yet.` : text }
}
