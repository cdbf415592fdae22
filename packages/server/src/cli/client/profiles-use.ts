import type { LocalRun } from '../command.ts'
import { NoProfile, readProfiles, writeProfiles } from './support/profiles.ts'

export const run: LocalRun = async ({ args, env }) => {
  const kept = readProfiles(env)
  const name = args[0]!
  if (!Object.hasOwn(kept.profiles, name)) throw new NoProfile(name, kept)
  writeProfiles(env, { ...kept, current: name })
  return { json: { current: name }, text: `Commands use profile ${name} now (${kept.profiles[name]!.url}).` }
}
