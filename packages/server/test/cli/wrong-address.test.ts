// What a command says of a wrong address and of a wrong key: whoever has several services must learn which of them.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { writeProfiles } from '../../src/cli/client/support/profiles.ts'
import { sqlite } from '../support/engines.ts'
import { command } from '../support/process.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { commandsOf } from './commands.ts'
import { newHome } from './home.ts'

const service = serviceForSuite(sqlite)
const tenant = tenantForSuite(service)
const home = newHome()
after(home.drop)

const UNKNOWN = `ak_live_${'x'.repeat(32)}`
const at = (url: string, key = tenant.adminKey) =>
  commandsOf(() => ({ ...home.env, SENSORIUM_KEY: key, SENSORIUM_URL: url }))

test('[CLI-54] https at a port without it is answered with the http address', async () => {
  const { port } = new URL(service.url)
  const { code, stderr } = await at(`https://127.0.0.1:${port}`).run('whoami')
  assert.equal(code, 5)
  assert.match(
    stderr,
    new RegExp(`\\(ERR_SSL_\\w+\\)\\. That port does not speak https: try http://127\\.0\\.0\\.1:${port}\\n$`),
  )
  const signIn = await command(['login', '--url', `https://127.0.0.1:${port}`], { ...home.env, SENSORIUM_KEY: UNKNOWN })
  assert.match(signIn.stderr, /try http:/)
})

test('[CLI-54] an address with a wrong path is named, with the path that is not there', async (t) => {
  const url = `${service.url}/sensorium`
  const { code, stderr } = await at(url).run('whoami')
  assert.equal(code, 4)
  assert.equal(
    stderr,
    `There is no such path: /sensorium/v1/auth/token. Asked at ${url}: is that the address of the service?\n`,
  )
  const other = createServer((_, response) => void response.writeHead(404).end('<h1>Not Found</h1>')).listen(0)
  t.after(() => other.close())
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  assert.equal(
    (await at(elsewhere).run('whoami')).stderr,
    `the service responded with 404. Asked at ${elsewhere}: is that the address of the service?\n`,
  )
})

test('[CLI-54] what is not found at the right address is told without it', async () => {
  const { code, stderr } = await at(service.url).run('agents', 'show', 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d')
  assert.equal(code, 4)
  assert.doesNotMatch(stderr, /Asked at/)
})

test('[CLI-55] a key that is refused is told with where it came from, but not itself', async () => {
  const refused = `is unknown at ${service.url}, revoked or expired, or its agent is inactive.`
  const ofVariable = await at(service.url, UNKNOWN).run('whoami')
  assert.deepEqual([ofVariable.code, ofVariable.stderr], [3, `The API key in SENSORIUM_KEY ${refused}\n`])
  const profile = { url: service.url, key: UNKNOWN, agent: null }
  writeProfiles(home.env, { current: 'plant', profiles: { plant: profile } })
  const { code, stderr } = await command(['whoami'], home.env)
  assert.equal(code, 3)
  assert.equal(
    stderr,
    `The API key of profile plant ${refused} \`sensorium login --url ${service.url} --profile plant\` keeps another key.\n`,
  )
  const malformed = await at(service.url, 'ak_live_short').run('whoami')
  assert.equal(malformed.code, 3)
  assert.match(malformed.stderr, /\nThe key is the one in SENSORIUM_KEY\.\n$/)
  for (const said of [ofVariable.stderr, stderr, malformed.stderr]) assert.doesNotMatch(said, /xxxx|ak_live_short/)
})

test('[CLI-55] with --json the error stays as the API returns it', async () => {
  const { body } = await at(service.url, UNKNOWN).json('whoami')
  assert.equal(body.error.code, 'authentication_failed')
  assert.doesNotMatch(body.error.message, /SENSORIUM_KEY/)
})
