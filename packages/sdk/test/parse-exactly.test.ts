// Responses that a client parses in another way than JSON.parse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createClient, parseExactly, type Delivery } from '@sensorium/client'
import { sqlite } from '../../server/test/support/engines.ts'
import { serviceForSuite } from '../../server/test/support/service.ts'

const NUMBERS = ['12345678901234567890', '-0.12345678901234567890', '1e400', '1.0', '-0', '1E2', '9007199254740993']

test('[SDK-60] numbers are written with the digits that they had, and the others stay numbers', () => {
  const number = fc.constantFrom(...NUMBERS, '0', '-1', '0.5')
  const word = fc.string().map((text) => JSON.stringify(text))
  const texts = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, number, word, fc.constant('null'), tie('list'), tie('map')),
    list: fc.array(tie('value')).map((items) => `[${items}]`),
    // A name that is a whole number would move to the front.
    map: fc.array(tie('value')).map((items) => `{${items.map((item, n) => `"n${n}":${item}`)}}`),
  })).value as fc.Arbitrary<string>
  fc.assert(fc.property(texts, (text) => assert.equal(JSON.stringify(parseExactly(text)), text)))
  fc.assert(
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (n) => {
      assert.equal(JSON.stringify(parseExactly(`[ ${n} ]`)), JSON.stringify(JSON.parse(`[${n}]`)))
    }),
  )
  const [whole, long] = parseExactly('[1, 1.50]') as unknown[]
  assert.deepEqual([typeof whole, typeof long], ['number', 'object'])
})

test('[SDK-60] a text of any length is parsed, and one that is not JSON is refused', () => {
  const escapes = JSON.stringify('\n'.repeat(5_000_000))
  assert.equal(JSON.stringify(parseExactly(`[${escapes}, 1.0]`)), `[${escapes},1.0]`)
  for (const text of ['{', '01', '1.', '"', '']) assert.throws(() => parseExactly(text), SyntaxError)
})

const service = serviceForSuite(sqlite)

test('[SDK-60] responses, streams and exports are all parsed as the client was told', async () => {
  const tenant = await service.tenant()
  const { id, key } = await tenant.agent()
  const parse = (text: string): unknown => Object.assign(JSON.parse(text) as object, { isMarked: true })
  const isMarked = (value: unknown): boolean => (value as { isMarked?: boolean }).isMarked === true
  const client = createClient({ url: service.url, apiKey: key, parse })
  assert.ok(isMarked(await client.deliveries.poll()))
  await client.memory.remember({ type: 'semantic', scope: 'agent', title: 'Pump 7', content: 'It runs hot.' })
  for await (const line of client.memory.export()) assert.ok(isMarked(line))

  const handled = Promise.withResolvers<Delivery>()
  const worker = client.worker({ mode: 'sse', handle: async ({ delivery }) => handled.resolve(delivery) })
  const admin = createClient({ url: service.url, apiKey: tenant.adminKey, parse })
  const stop = new AbortController()
  const live = admin.live({}, { signal: stop.signal })
  let next = live.next()
  for (let kind = ''; kind !== 'event'; next = live.next()) {
    let isHere = false
    void next.finally(() => (isHere = true))
    // A stream shows what is published after it was opened, and it may be opened late.
    while (!isHere) {
      await client.publish({ type: 'com.example.marked', recipient: id })
      await service.clock.advance(1_000)
    }
    const message = (await next).value!
    assert.ok(isMarked(message.kind === 'event' ? message.event : message.stats), message.kind)
    kind = message.kind
  }
  stop.abort()
  while (!(await next).done) next = live.next()
  assert.ok(isMarked(await handled.promise))
  await worker.stop()
})

test('[SDK-60] an error of the function that parses is thrown, and the call is not made again', async () => {
  const { key } = await (await service.tenant()).agent()
  let calls = 0
  const client = createClient({
    url: service.url,
    apiKey: key,
    fetch: (...given) => (calls++, fetch(...given)),
    parse(text) {
      if (text.includes('"deliveries"')) throw new RangeError('not this one')
      return JSON.parse(text)
    },
  })
  await assert.rejects(client.deliveries.poll(), RangeError)
  assert.equal(calls, 2, 'the exchange and one poll')
})
