import type { LocalRun } from '../command.ts'
import { DEFAULT_PROFILE, NoProfile, readProfiles, writeProfiles } from './support/profiles.ts'

export const run: LocalRun = async ({ options, env }) => {
  const kept = readProfiles(env)
  const { current, profiles } = kept
  const name = options['profile'] ?? (env['SENSORIUM_PROFILE'] || current)
  if (!Object.hasOwn(profiles, name)) throw new NoProfile(name, kept)
  const { [name]: removed, ...rest } = profiles
  const next = name === current ? (Object.keys(rest)[0] ?? DEFAULT_PROFILE) : current
  writeProfiles(env, { current: next, profiles: rest })
  return {
    json: { profile: name, removed: true },
    text: `The key of profile ${name} (${removed!.url}) is forgotten here. It stays valid until it is revoked.`,
  }
}
