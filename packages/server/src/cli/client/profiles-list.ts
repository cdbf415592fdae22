import type { LocalRun } from '../command.ts'
import { list } from '../terminal/table.ts'
import { readProfiles } from './support/profiles.ts'

export const run: LocalRun = async ({ env }) => {
  const { current, profiles } = readProfiles(env)
  // The key is never shown.
  const shown = Object.entries(profiles).map(([name, { url, agent }]) => ({
    name,
    url,
    agent,
    current: name === current,
  }))
  const rows = shown.map((one) => [
    one.current ? '*' : '',
    one.name,
    one.url,
    one.agent === null ? 'org-admin' : one.agent.name,
    one.agent?.id ?? null,
  ])
  return {
    json: { profiles: shown },
    text: list(['', 'profile', 'service', 'as', 'agent'], rows, {
      none: 'No profile yet: `sensorium login` makes one.',
    }),
  }
}
