// Profiles, and which profile or key of the environment a command uses.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { UsageError } from '../../src/cli/command.ts'
import { profilesFile, readProfiles, writeProfiles } from '../../src/cli/client/support/profiles.ts'
import { addressOf, NotSignedIn, sessionOf } from '../../src/cli/client/support/session.ts'

let env: Record<string, string>
beforeEach(() => {
  env = { XDG_CONFIG_HOME: mkdtempSync(path.join(os.tmpdir(), 'sensorium-profiles-')) }
})
afterEach(() => rmSync(env['XDG_CONFIG_HOME']!, { recursive: true, force: true }))

const keep = (): void =>
  writeProfiles(env, {
    current: 'home',
    profiles: {
      home: { url: 'http://localhost:8080', key: 'ak_live_home', agent: null },
      work: { url: 'https://sensorium.example', key: 'ak_live_work', agent: { id: 'agt_1', name: 'Triage' } },
    },
  })
const session = (options: Record<string, string>, more: Record<string, string> = {}) =>
  sessionOf(options, { ...env, ...more }, (sentence) => warnings.push(sentence))
let warnings: string[] = []
beforeEach(() => (warnings = []))

test('[CLI-2] profiles are in XDG_CONFIG_HOME or ~/.config, in a file that only the owner can read', () => {
  assert.equal(profilesFile({ HOME: '/srv/ann' }), '/srv/ann/.config/sensorium/config.json')
  assert.equal(
    profilesFile({ HOME: '/srv/ann', XDG_CONFIG_HOME: 'relative' }),
    '/srv/ann/.config/sensorium/config.json',
  )
  assert.deepEqual(readProfiles(env), { current: 'default', profiles: {} })
  keep()
  const file = profilesFile(env)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700)
  chmodSync(file, 0o644)
  assert.equal(session({}).key, 'ak_live_home')
  assert.match(warnings.join(), /Others can read the keys/)
  keep()
  assert.equal(statSync(file).mode & 0o777, 0o600, 'written again')
  assert.deepEqual(readdirSync(path.dirname(file)), ['config.json'])
})

test('[CLI-2] profiles are never in the working directory', () => {
  const own = path.join(os.userInfo().homedir, '.config/sensorium/config.json')
  assert.equal(profilesFile({ HOME: '' }), own)
  assert.equal(profilesFile({}), own)
  assert.throws(() => profilesFile({ HOME: 'relative' }), /set HOME or XDG_CONFIG_HOME to an absolute path/)
})

test('[CLI-2] a folder that cannot be written is reported with the file and another way', () => {
  writeFileSync(path.dirname(profilesFile(env)), 'not a folder')
  assert.throws(
    keep,
    /sensorium\/config\.json cannot be written: .*\. Set HOME or XDG_CONFIG_HOME to .*, or SENSORIUM_KEY/,
  )
})

test('[CLI-2] a damaged file is reported by its name, and is not overwritten', () => {
  keep()
  writeFileSync(profilesFile(env), '{"profiles"')
  const told = new RegExp(`^Error: ${profilesFile(env)} cannot be read`)
  assert.throws(() => readProfiles(env), told)
  writeFileSync(profilesFile(env), '{"current":"a","profiles":{"a":{"url":5,"key":"k"}}}')
  assert.throws(() => readProfiles(env), told)
})

test('[CLI-2] --profile goes before SENSORIUM_KEY, which goes before SENSORIUM_PROFILE and the current one', () => {
  keep()
  const key = { SENSORIUM_KEY: 'ak_live_env' }
  assert.deepEqual(session({}), { url: 'http://localhost:8080', key: 'ak_live_home', profile: 'home' })
  assert.equal(session({}, { SENSORIUM_PROFILE: 'work' }).key, 'ak_live_work')
  assert.deepEqual(session({}, { ...key, SENSORIUM_PROFILE: 'work' }), { url: 'http://localhost:8080', key: 'ak_live_env', profile: null }) // biome-ignore format: one case a line
  assert.equal(session({}, { ...key, SENSORIUM_URL: 'https://other.example/' }).url, 'https://other.example')
  assert.equal(session({ url: 'other.example:1' }, key).url, 'http://other.example:1')
  assert.equal(session({ profile: 'work' }, key).key, 'ak_live_work')
})

test('[CLI-2] a stored key is sent only to its own address', () => {
  keep()
  assert.throws(() => session({ url: 'https://elsewhere.example' }), UsageError)
  assert.throws(() => session({ profile: 'work', url: 'http://sensorium.example' }), UsageError, 'nor unencrypted')
  assert.equal(session({ profile: 'work', url: 'https://sensorium.example/' }).key, 'ak_live_work')
})

test('[CLI-51] SENSORIUM_URL beside the profile of another service is refused by its name', () => {
  keep()
  const url = { SENSORIUM_URL: 'https://staging.example' }
  const refused = {
    name: 'Error',
    message:
      'SENSORIUM_URL is https://staging.example, but the key of profile home is for http://localhost:8080 and is sent nowhere else. Unset SENSORIUM_URL, or sign in at the other service under a name of its own: sensorium login --url https://staging.example --profile <name>',
  }
  assert.throws(() => session({}, url), refused)
  assert.throws(() => session({}, url), UsageError)
  assert.throws(() => session({ profile: 'work' }, url), /SENSORIUM_URL .* profile work is for https:\/\/sensorium/)
  assert.throws(() => session({}, { ...url, SENSORIUM_PROFILE: 'work' }), /SENSORIUM_URL .* profile work/)
  // It names the same service, is empty, belongs to SENSORIUM_KEY, or --url goes before it.
  assert.equal(session({}, { SENSORIUM_URL: 'localhost:8080/v1/' }).key, 'ak_live_home')
  assert.equal(session({}, { SENSORIUM_URL: '' }).key, 'ak_live_home')
  assert.equal(session({ profile: 'work' }, { ...url, SENSORIUM_KEY: 'ak_live_env' }).key, 'ak_live_work')
  assert.equal(session({ url: 'http://localhost:8080' }, url).key, 'ak_live_home')
})

test('[CLI-3] without a key, or with an unknown profile, one is not signed in', () => {
  assert.throws(() => session({}), NotSignedIn)
  keep()
  for (const name of ['nobody', 'constructor', '__proto__'])
    assert.throws(() => session({ profile: name }), NotSignedIn)
})

test('[CLI-2] an address may be abbreviated, and must not contain a password', () => {
  assert.equal(addressOf('localhost:8080'), 'http://localhost:8080')
  assert.equal(addressOf('https://a.example/base/'), 'https://a.example/base')
  assert.equal(addressOf('http://localhost:8080/v1/'), 'http://localhost:8080')
  for (const wrong of [
    '',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://:p@a.example',
    'https://a.example/?x=1',
    'http://',
  ])
    assert.throws(() => addressOf(wrong), UsageError, wrong)
})
