// Profiles: named services, each with its key. They are stored in the user's configuration folder, in a file that only
// the user can read.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

interface Profile {
  url: string
  key: string
  /** The agent that owns the key; null for an org-admin. */
  agent: { id: string; name: string } | null
}

interface Profiles {
  current: string
  profiles: Record<string, Profile>
}

/** Thrown for a name that no profile has. */
export class NoProfile extends Error {
  constructor(name: string, { profiles }: Profiles) {
    super(`There is no profile ${name}. Known: ${Object.keys(profiles).join(', ') || 'none'}`)
  }
}

export const DEFAULT_PROFILE = 'default'

type Environment = Readonly<Record<string, string | undefined>>

export function profilesFile(env: Environment): string {
  // The XDG specification says to ignore an XDG_CONFIG_HOME that is not absolute.
  const given = env['XDG_CONFIG_HOME']
  const folder = given && path.isAbsolute(given) ? given : path.join(homeOf(env), '.config')
  return path.join(folder, 'sensorium', 'config.json')
}

// Never the working directory: a key would be left there, and a prepared folder could choose the service.
function homeOf(env: Environment): string {
  let home = env['HOME']
  try {
    home ||= os.userInfo().homedir
  } catch {} // a user without a name, as in a container
  if (home && path.isAbsolute(home)) return home
  throw new Error('There is no folder to keep profiles in: set HOME or XDG_CONFIG_HOME to an absolute path.')
}

export function readProfiles(env: Environment): Profiles {
  const file = profilesFile(env)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: DEFAULT_PROFILE, profiles: {} }
    throw error
  }
  try {
    const { current, profiles } = JSON.parse(text) as Partial<Profiles>
    if (typeof profiles !== 'object' || profiles === null) throw new Error('it has no profiles')
    for (const [name, profile] of Object.entries(profiles))
      if (typeof profile?.url !== 'string' || typeof profile.key !== 'string')
        throw new Error(`its profile ${name} has no url or no key`)
    return { current: current ?? DEFAULT_PROFILE, profiles }
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}. Mend it, or remove it and sign in again`)
  }
}

/** Returns whether other users of this machine can read the keys. Windows has no such file modes. */
export function isOpenToOthers(env: Environment): boolean {
  if (process.platform === 'win32') return false
  try {
    return (statSync(profilesFile(env)).mode & 0o077) !== 0
  } catch {
    return false
  }
}

/** Writes the file atomically: a command that is interrupted leaves the old file or the new one. */
export function writeProfiles(env: Environment, profiles: Profiles): void {
  const file = profilesFile(env)
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    replace(file, `${JSON.stringify(profiles, null, 2)}\n`)
  } catch (error) {
    throw new Error(
      `${file} cannot be written: ${(error as Error).message}. Set HOME or XDG_CONFIG_HOME to a folder of your own, or SENSORIUM_KEY for each command`,
      { cause: error },
    )
  }
}

function replace(file: string, text: string): void {
  const partial = `${file}.${process.pid}.partial`
  try {
    writeFileSync(partial, text, { mode: 0o600, flag: 'wx' })
    chmodSync(partial, 0o600)
    renameSync(partial, file)
  } finally {
    rmSync(partial, { force: true })
  }
}
