import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeSecrets, randomBase62, sameSecret } from '../../src/kernel/secrets.ts'
import { anyCharacter } from '../support/any-character.ts'

const secrets = makeSecrets('a-master-secret-for-the-tests')
const other = makeSecrets('another-master-secret-for-the-tests')

test('[STO-6] a sealed text opens again in the place it was sealed for', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string(), (plain, context) => {
      assert.equal(secrets.open(secrets.seal(plain, context), context), plain)
    }),
  )
})

test('[STO-6] nothing else opens it: another place, another secret, a changed bit', () => {
  const sealed = secrets.seal('whsec_something', 'webhook whk_1')
  assert.throws(() => secrets.open(sealed, 'webhook whk_2'))
  assert.throws(() => other.open(sealed, 'webhook whk_1'))
  assert.throws(() => secrets.open(sealed.replace('v1.', 'v2.'), 'webhook whk_1'), /unknown version/)
  const bytes = Buffer.from(sealed.slice(3), 'base64')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    assert.throws(() => secrets.open('v1.' + changed.toString('base64'), 'webhook whk_1'), `byte ${i}`)
  }
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(
      () => secrets.open('v1.' + bytes.subarray(0, length).toString('base64'), 'webhook whk_1'),
      `${length} bytes`,
    )
  }
})

test('[STO-6] the same text sealed twice looks different, and shows nothing of the text', () => {
  const [a, b] = [secrets.seal('plain text', 'here'), secrets.seal('plain text', 'here')]
  assert.notEqual(a, b)
  assert.ok(!Buffer.from(a.slice(3), 'base64').includes('plain text'))
})

test('[KEY-8] an API key is stored as a keyed hash: the same under one secret, different under another', () => {
  const key = `ak_live_${randomBase62(32)}`
  assert.equal(secrets.hashApiKey(key), secrets.hashApiKey(key))
  assert.notEqual(secrets.hashApiKey(key), other.hashApiKey(key))
  assert.match(secrets.hashApiKey(key), /^[0-9a-f]{64}$/)
})

test('[AUTH-5] every purpose has its own key, derived from the master secret alone', () => {
  assert.deepEqual(makeSecrets('a-master-secret-for-the-tests').tokenKey, secrets.tokenKey)
  assert.notDeepEqual(other.tokenKey, secrets.tokenKey)
  assert.notEqual(other.fingerprint, secrets.fingerprint)
  assert.ok(!Buffer.from(secrets.tokenKey).toString('hex').includes(secrets.fingerprint))
})

test('[KEY-2] base62 has the requested length, and letters and digits are about equally likely', () => {
  assert.equal(randomBase62(0), '')
  const text = randomBase62(62_000)
  assert.match(text, /^[A-Za-z0-9]{62000}$/)
  const counts = Map.groupBy(text, (c) => c)
  assert.equal(counts.size, 62)
  // One in 62 of 62,000 is 1000; six standard deviations are 190.
  for (const [c, found] of counts) assert.ok(Math.abs(found.length - 1000) < 190, `${c}: ${found.length}`)
})

test('[TEN-5] sameSecret compares whole texts, of any length', () => {
  assert.ok(sameSecret('token', 'token'))
  assert.ok(sameSecret('', ''))
  for (const wrong of ['', 'toke', 'tokens', 'Token', 'tokem']) assert.equal(sameSecret('token', wrong), false)
})
