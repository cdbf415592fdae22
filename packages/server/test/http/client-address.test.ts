// The address that a request counts as coming from.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { makeClientAddress } from '../../src/http/client-address.ts'
import { networkOf, siteOf } from '../../src/kernel/addresses.ts'
import { sqlite } from '../support/engines.ts'
import { rawConnection } from '../support/raw-http.ts'
import { startService, type Service } from '../support/service.ts'

const trusting = (text: string) => makeClientAddress(readConfig({ TRUSTED_PROXIES: text }).trustedProxies)

const CASES: [what: string, trusted: string, remote: string, headers: Record<string, string>, client: string][] = [
  ['nobody is believed', '', '203.0.113.9', { 'x-forwarded-for': '198.51.100.1' }, '203.0.113.9'],
  ['a stranger is not', '10.0.0.0/8', '203.0.113.9', { 'x-forwarded-for': '198.51.100.1' }, '203.0.113.9'],
  ['a proxy is', '10.0.0.0/8', '10.1.2.3', { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1'],
  ['of the last it names', '10.0.0.1', '10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, '2.2.2.2'],
  [
    'through proxies of proxies',
    '10.0.0.0/8',
    '10.0.0.1',
    { 'x-forwarded-for': '1.1.1.1,2.2.2.2 , 10.9.9.9' },
    '2.2.2.2',
  ],
  ['who says nothing', '10.0.0.1', '10.0.0.1', {}, '10.0.0.1'],
  ['who says nonsense', '10.0.0.1', '10.0.0.1', { 'x-forwarded-for': '1.1.1.1, unknown' }, '10.0.0.1'],
  ['all are proxies', '10.0.0.0/8', '10.0.0.1', { 'x-forwarded-for': '10.0.0.3, 10.0.0.2' }, '10.0.0.3'],
  [
    'whose list is too long',
    '10.0.0.0/8',
    '10.0.0.1',
    { 'x-forwarded-for': `6.6.6.6${', 10.0.0.2'.repeat(32)}` },
    '10.0.0.2',
  ],
  ['as IPv6', '::1', '::1', { 'x-forwarded-for': '2001:db8::7' }, '2001:db8::7'],
  ['as IPv4 in IPv6', '10.0.0.1', '::ffff:10.0.0.1', { 'x-forwarded-for': '::ffff:9.9.9.9' }, '9.9.9.9'],
  ['with ports', '10.0.0.1,fd00::/8', 'fd00::1', { 'x-forwarded-for': '[2001:db8::7]:80, 10.0.0.1:81' }, '2001:db8::7'],
  [
    'by Forwarded',
    '10.0.0.1',
    '10.0.0.1',
    { forwarded: 'for=1.1.1.1;by=x, proto=http;For="[2001:db8::1]:47"' },
    '2001:db8::1',
  ],
  ['by a Forwarded that hides', '10.0.0.1', '10.0.0.1', { forwarded: 'for=_hidden' }, '10.0.0.1'],
  ['with a port and IPv4', '10.0.0.1', '10.0.0.1', { forwarded: 'for="192.0.2.43:47011"' }, '192.0.2.43'],
  [
    'by a Forwarded with an obfuscated port',
    '10.0.0.1',
    '10.0.0.1',
    { forwarded: 'for="[2001:db8::1]:_x"' },
    '2001:db8::1',
  ],
  ['by a Forwarded that is unknown', '10.0.0.1', '10.0.0.1', { forwarded: 'for=1.1.1.1, for=unknown' }, '10.0.0.1'],
  ['by a quote that never ends', '10.0.0.1', '10.0.0.1', { forwarded: 'for="6.6.6.6, for=9.9.9.9' }, '9.9.9.9'],
  [
    'by what the client wrote into quotes',
    '10.0.0.1',
    '10.0.0.1',
    { forwarded: 'for=9.9.9.9;host="x,for=6.6.6.6"' },
    '9.9.9.9',
  ],
  ['by a pair in quotes', '10.0.0.1', '10.0.0.1', { forwarded: 'host="x;for=6.6.6.6";for=9.9.9.9' }, '9.9.9.9'],
  ['by quotes in quotes', '10.0.0.1', '10.0.0.1', { forwarded: 'for=9.9.9.9;host="\\",for=6.6.6.6"' }, '9.9.9.9'],
  [
    'by Forwarded of many proxies',
    '10.0.0.0/8',
    '10.0.0.1',
    { forwarded: `for=6.6.6.6${', for=10.0.0.2'.repeat(32)}` },
    '10.0.0.2',
  ],
  ['by an element without for', '10.0.0.1', '10.0.0.1', { forwarded: 'for=6.6.6.6, proto=https' }, '10.0.0.1'],
  ['a client that names a proxy', '10.0.0.0/8', '10.0.0.1', { 'x-forwarded-for': '10.0.0.5, 6.6.6.6' }, '6.6.6.6'],
  [
    'a mixed chain',
    '10.0.0.0/8,fd00::/8',
    'fd00::1',
    { 'x-forwarded-for': '6.6.6.6, 8.8.8.8, 10.0.0.2, fd00::9' },
    '8.8.8.8',
  ],
  ['numbers that some read as addresses', '10.0.0.1', '10.0.0.1', { 'x-forwarded-for': '0x7f.1' }, '10.0.0.1'],
  ['an empty element', '10.0.0.1', '10.0.0.1', { 'x-forwarded-for': '6.6.6.6,' }, '10.0.0.1'],
  ['a zone', 'fe80::/10', 'fe80::1%eth0', { 'x-forwarded-for': '2001:db8::7%x' }, '2001:db8::7'],
  ['by both', '10.0.0.1', '10.0.0.1', { forwarded: 'for=1.1.1.1', 'x-forwarded-for': '2.2.2.2' }, '2.2.2.2'],
]

for (const [what, trusted, remote, headers, client] of CASES) {
  test(`[SAFE-10] ${what}: ${remote} is ${client}`, () => {
    assert.equal(trusting(trusted)({ headers, socket: { remoteAddress: remote } as never }), client)
  })
}

test('[SAFE-10] limits count an IPv6 client by its /64, and by the /48 that its site may have', () => {
  assert.equal(networkOf('203.0.113.9'), '203.0.113.9')
  for (const address of ['2001:db8:0:1::7', '2001:db8:0:1:a:b:c:d', '2001:db8:0:1::'])
    assert.equal(networkOf(address), '2001:db8:0:1::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.notEqual(networkOf('2001:db8::1'), networkOf('2001:db8:0:1::1'))
  assert.deepEqual(['203.0.113.9', '2001:db8:7:1::1', '2001:db8::'].map(siteOf), [
    null,
    '2001:db8:7::/48',
    '2001:db8:0::/48',
  ])
})

test('[SAFE-10] of several headers the last line is the proxy’s', async () => {
  const attempt = async (client: string): Promise<number> => {
    const connection = await rawConnection(service.url)
    const body = `{"api_key":"ak_live_${'y'.repeat(32)}"}`
    connection.write(
      `POST /v1/auth/token HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 6.6.6.${client}\r\nX-Forwarded-For: 198.51.100.77\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const { status } = await connection.reply()
    connection.socket.destroy()
    return status
  }
  for (let i = 0; i < 30; i++) assert.equal(await attempt(String(i)), 401)
  assert.equal(await attempt('99'), 429, 'what the client wrote itself counts for nothing')
})

let service: Service
before(async () => void (service = await startService(sqlite, { TRUSTED_PROXIES: '127.0.0.0/8' })))
after(() => service.stop())

test('[SAFE-10] behind a trusted proxy every client has a limit of its own', async () => {
  const guess = (client: string) =>
    service.call('POST /v1/auth/token', {
      body: { api_key: `ak_live_${'x'.repeat(32)}` },
      headers: { 'x-forwarded-for': client },
    })
  for (let i = 0; i < 30; i++) assert.equal((await guess('198.51.100.1')).status, 401)
  assert.equal((await guess('198.51.100.1')).status, 429)
  assert.equal((await guess('198.51.100.2')).status, 401)
})
