import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const json = await client.agents.sendTestEvent(args[0]!, { signal })
  return { json, text: `A test event is on its way: sensorium trace ${json.event_id}` }
}
