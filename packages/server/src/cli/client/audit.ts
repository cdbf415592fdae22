import type { ClientRun } from '../command.ts'
import { pastTime } from '../past-time.ts'
import { showAudit } from '../terminal/audit-table.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = withoutUndefined({
    actor: options['actor'],
    action: options['action'],
    since: pastTime('since', options),
    until: pastTime('until', options),
    offset: numberOf('--offset', options['offset']),
    limit: numberOf('--limit', options['limit']),
  })
  return showAudit(query, await client.audit(query, { signal }))
}
