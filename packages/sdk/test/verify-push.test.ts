// Pushes as a receiver verifies them, signed by the official library, against which the service is tested too.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { InvalidPush, verifyPush } from '@sensorium/client'

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes here').toString('base64')}`
const BODY =
  '{"id":"dlv_1","event_id":"e","payload":{"type":"a.b"},"attempt_count":1,"created_at":"2030-01-01T00:00:00Z"}'
const NOW = Date.UTC(2030, 0, 1)

function signed(secret = SECRET, at = NOW): Record<string, string> {
  const signature = new Webhook(secret.slice(6)).sign('dlv_1', new Date(at), BODY)
  return { 'webhook-id': 'dlv_1', 'webhook-timestamp': String(at / 1000), 'webhook-signature': signature }
}

test('[SDK-15] a genuine push yields its delivery, from plain headers or Headers, text or bytes', async () => {
  assert.equal((await verifyPush(signed(), BODY, SECRET, () => NOW)).id, 'dlv_1')
  const bytes = new TextEncoder().encode(BODY)
  assert.equal((await verifyPush(new Headers(signed()), bytes, SECRET, () => NOW)).event_id, 'e')
})

test('[SDK-15] Headers of another library work, and names in any case', async () => {
  const headers = new Headers(signed())
  assert.equal((await verifyPush({ get: (name) => headers.get(name) }, BODY, SECRET, () => NOW)).id, 'dlv_1')
  const capital = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
  assert.equal((await verifyPush(capital, BODY, SECRET, () => NOW)).id, 'dlv_1')
})

test('[SDK-15] one of several signatures has to match: during a rotation both secrets sign', async () => {
  const other = `whsec_${Buffer.from('another secret, thirty-two bytes!').toString('base64')}`
  const both = `${signed(other)['webhook-signature']} ${signed()['webhook-signature']}`
  assert.equal((await verifyPush({ ...signed(), 'webhook-signature': both }, BODY, SECRET, () => NOW)).id, 'dlv_1')
})

test('[SDK-15] what the receiver itself gave wrongly is a TypeError that names it', async () => {
  for (const secret of [undefined, ''])
    await assert.rejects(
      verifyPush(signed(), BODY, secret as string, () => NOW),
      { name: 'TypeError', message: /secret/ },
    )
  await assert.rejects(
    verifyPush(signed(), JSON.parse(BODY), SECRET, () => NOW),
    { name: 'TypeError', message: /body/ },
  )
})

/** The headers of a push whose time is a word, with a signature that fits. */
function signedSoon(): Record<string, string> {
  const key = Buffer.from(SECRET.slice(6), 'base64')
  const signature = createHmac('sha256', key).update(`dlv_1.soon.${BODY}`).digest('base64')
  return { 'webhook-id': 'dlv_1', 'webhook-timestamp': 'soon', 'webhook-signature': `v1,${signature}` }
}

const refused: [string, () => Promise<unknown>][] = [
  ['a body that was changed', () => verifyPush(signed(), BODY.replace('"e"', '"f"'), SECRET, () => NOW)],
  // As a web framework hands over a request without a body.
  ['no body', () => verifyPush(signed(), undefined as unknown as string, SECRET, () => NOW)],
  ['another secret', () => verifyPush(signed(), BODY, `whsec_${btoa('x'.repeat(32))}`, () => NOW)],
  ['one that is too old', () => verifyPush(signed(SECRET, NOW - 301_000), BODY, SECRET, () => NOW)],
  ['one from the future', () => verifyPush(signed(SECRET, NOW + 301_000), BODY, SECRET, () => NOW)],
  ['a time that is none', () => verifyPush(signedSoon(), BODY, SECRET, () => NOW)],
  ['a missing header', () => verifyPush({ ...signed(), 'webhook-id': undefined }, BODY, SECRET, () => NOW)],
  [
    'a signature that is no base64',
    () => verifyPush({ ...signed(), 'webhook-signature': 'v1,%%' }, BODY, SECRET, () => NOW),
  ],
  ['an unknown version', () => verifyPush({ ...signed(), 'webhook-signature': 'v2,AAAA' }, BODY, SECRET, () => NOW)],
]
for (const [what, verify] of refused) {
  test(`[SDK-15] refused: ${what}`, () => assert.rejects(verify, InvalidPush))
}
