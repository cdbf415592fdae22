import type { ClientRun } from '../command.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'

export const run: ClientRun = async ({ agent, client, signal }) => {
  const json = await client.keys.list(await agent(), { signal })
  const rows = json.keys.map(({ id, prefix, scopes, expires_at, last_used_at }) => [
    id,
    prefix,
    scopes.join(','),
    when(expires_at),
    when(last_used_at),
  ])
  return { json, text: list(['id', 'prefix', 'scopes', 'ends', 'last used'], rows, { none: 'It has no key.' }) }
}
