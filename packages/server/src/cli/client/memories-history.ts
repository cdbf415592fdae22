import type { ClientRun } from '../command.ts'
import { table } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const json = await client.call('getMemoryHistory', { params: { id: args[0]! } }, { signal })
  const rows = json.versions.map(({ version, changed_at, changed_by, fields }) => [
    version,
    when(changed_at),
    changed_by,
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', '),
  ])
  return { json, text: table(['version', 'since', 'by', 'what it changed'], rows) }
}
