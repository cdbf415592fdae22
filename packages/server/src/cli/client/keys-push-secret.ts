import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ agent, client, signal }) => {
  const json = await client.agents.rotatePushSecret(await agent(), { signal })
  return { json, text: `Push secret (shown this once):  ${json.push_secret}` }
}
