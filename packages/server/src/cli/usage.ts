import { operations } from '@sensorium/contract'
import { readUsage } from '../tenants/usage.ts'
import { checkedQuery, type Command } from './command.ts'
import { table } from './table.ts'

export const usage: Command = {
  words: ['usage'],
  parameters: ['slug'],
  summary: 'What a tenant used, per day',
  async run({ args, withStore }) {
    const { tenant } = checkedQuery(operations.getUsage, { tenant: args[0] }) as { tenant: string }
    const json = await withStore((store) => readUsage(store, tenant))
    const rows = json.days.map((day) => [
      day.date,
      day.events,
      day.deliveries,
      day.acknowledgements,
      day.memories,
      day.searches,
    ])
    const text = table(['date', 'events', 'deliveries', 'acknowledgements', 'memories', 'searches'], rows)
    return { json, text: rows.length === 0 ? `${tenant} has used nothing yet.` : text }
  },
}
