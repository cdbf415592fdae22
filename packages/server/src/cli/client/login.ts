import { text } from 'node:stream/consumers'
import { createClient } from '@sensorium/client'
import { UsageError, type LocalRun } from '../command.ts'
import { cleanLine } from '../terminal/clean.ts'
import { askSecretly } from '../terminal/ask-secretly.ts'
import { failedAt } from './support/call-failed.ts'
import { ATTEMPTS } from './support/invocation.ts'
import { DEFAULT_PROFILE, profilesFile, readProfiles, writeProfiles } from './support/profiles.ts'
import { addressOf, DEFAULT_URL } from './support/session.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const LOCAL = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|$)/

/** The key is never an option: every user of the machine could read it in the list of processes. */
async function readKey(env: NodeJS.ProcessEnv): Promise<string> {
  const given =
    env['SENSORIUM_KEY'] || (process.stdin.isTTY ? await askSecretly('API key: ') : await text(process.stdin))
  const key = given.trim()
  if (key === '') throw new UsageError('No key was given. Type it, pipe it in, or set SENSORIUM_KEY', 'an API key')
  return key
}

export const run: LocalRun = async ({ options, env }) => {
  const url = addressOf(options['url'] ?? (env['SENSORIUM_URL'] || DEFAULT_URL))
  const name = options['profile'] ?? (env['SENSORIUM_PROFILE'] || DEFAULT_PROFILE)
  if (!NAME.test(name)) throw new UsageError(`${name} is no name for a profile: letters, digits, . _ and -`, 'a name')
  const kept = readProfiles(env)
  const key = await readKey(env)
  if (url.startsWith('http:') && !LOCAL.test(url))
    console.error(`Your key crosses the network unencrypted: ${url} is not https`)
  const called = { url, profile: env['SENSORIUM_KEY'] ? null : undefined }
  const asked = createClient({ url, apiKey: key, attempts: ATTEMPTS }).agent()
  const agent = (await asked.catch((error: unknown) => Promise.reject(failedAt(called, error)))) ?? null
  const who = agent === null ? null : { id: agent.id, name: agent.name }
  writeProfiles(env, { current: name, profiles: { ...kept.profiles, [name]: { url, key, agent: who } } })
  const as = who === null ? 'an org-admin' : `the agent ${cleanLine(who.name)} (${who.id})`
  return {
    json: { profile: name, url, agent: who },
    text: `Signed in to ${url} as ${as}.\nThe key is kept as profile ${name} in ${profilesFile(env)}.`,
  }
}
