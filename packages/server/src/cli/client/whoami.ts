import type { ClientRun } from '../command.ts'
import { record } from '../terminal/record.ts'

export const run: ClientRun = async ({ client, session, signal }) => {
  const agent = (await client.agent({ signal })) ?? null
  const { url, profile } = session
  return {
    json: { url, profile, agent },
    text: record([
      ['service', url],
      ['profile', profile ?? 'none: the key is SENSORIUM_KEY'],
      ['as', agent === null ? 'an org-admin' : agent.name],
      ['agent', agent?.id],
      ['status', agent?.status],
      ['receives by', agent?.delivery_mode],
      ['team', agent?.team_id],
      ['tenant', agent?.tenant_id],
    ]),
  }
}
