// Decides which service a command calls, and with which key. The first that applies wins:
//
// 1. `--profile` names a profile.
// 2. SENSORIUM_KEY is a key for the service at `--url` or SENSORIUM_URL.
// 3. SENSORIUM_PROFILE names a profile, or the current profile is used.
//
// The key of a profile is never sent to another service, so `--url` with a profile must name the profile's own service.
// So must SENSORIUM_URL, unless it belongs to SENSORIUM_KEY: whoever sets it expects that it is used.
import { UsageError } from '../../command.ts'
import { isOpenToOthers, profilesFile, readProfiles } from './profiles.ts'

export const DEFAULT_URL = 'http://localhost:8080'

interface Session {
  url: string
  key: string
  /** Null if the key comes from the environment. */
  profile: string | null
}

/** Thrown if there is no key to sign in with. */
export class NotSignedIn extends Error {}

type Environment = Readonly<Record<string, string | undefined>>
type Options = Readonly<Record<string, string | undefined>>

/** Reads a URL as people type it: `localhost:8080` is enough. */
export function addressOf(given: string): string {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username ||
    url.password ||
    url.search ||
    url.hash
  )
    throw new UsageError(`${given} is no address of a service: it looks like https://sensorium.example`, 'an address')
  // A URL that ends in the API version, as the guides write it for curl, names the same service.
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** Refuses another service than the one that the key of a profile was kept for. */
function requireOwn(name: string, own: string, asked: string, isVariable: boolean): void {
  if (addressOf(asked) === own) return
  const named = isVariable ? `SENSORIUM_URL is ${asked}, but the` : 'The'
  const unset = isVariable ? 'Unset SENSORIUM_URL, or sign' : 'Sign'
  throw new UsageError(
    `${named} key of profile ${name} is for ${own} and is sent nowhere else. ${unset} in at the other service under a name of its own: sensorium login --url ${asked} --profile <name>`,
    isVariable ? `SENSORIUM_URL=${own}` : `--url ${own}`,
  )
}

export function sessionOf(options: Options, env: Environment, warn: (sentence: string) => void): Session {
  const key = env['SENSORIUM_KEY']
  if (options['profile'] === undefined && key) {
    const url = addressOf(options['url'] ?? (env['SENSORIUM_URL'] || DEFAULT_URL))
    return { url, key, profile: null }
  }
  const { current, profiles } = readProfiles(env)
  const name = options['profile'] ?? (env['SENSORIUM_PROFILE'] || current)
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined) {
    const known = Object.keys(profiles)
    throw new NotSignedIn(
      known.length === 0
        ? 'You are not signed in. `sensorium login` keeps a key, or set SENSORIUM_KEY'
        : `There is no profile ${name}. Known: ${known.join(', ')}. \`sensorium login --profile ${name}\` makes it`,
    )
  }
  const asked = options['url'] ?? (key ? undefined : env['SENSORIUM_URL'] || undefined)
  if (asked !== undefined) requireOwn(name, profile.url, asked, options['url'] === undefined)
  if (isOpenToOthers(env)) warn(`Others can read the keys in ${profilesFile(env)}: chmod 600 it`)
  return { url: profile.url, key: profile.key, profile: name }
}
