// Reading the form that a provider sends, without a service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBody } from '../../../src/ingest/webhooks/read-body.ts'
import { Failure } from '../../../src/kernel/failure.ts'
import { anyCharacter } from '../../support/any-character.ts'

const read = (type: string, text: string) => readBody({ 'content-type': type }, Buffer.from(text), 'github')
const readForm = (text: string) => read('application/x-www-form-urlencoded', text)

/** Reads a body, and returns how many turns of the event loop passed meanwhile. */
async function turnsOf(reading: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => void (isOver || (turns++, setImmediate(count)))
  setImmediate(count)
  await reading.finally(() => (isOver = true))
  return turns
}

test('[ING-5] the field is found wherever it is in the form, and the first of two counts', async () => {
  for (const form of ['payload=1', 'payload=1&payload=2', 'a=b&payload=1&c', '&&payload=1&', 'payloads=2&payload=1'])
    assert.equal((await readForm(form)).body, 1, form)
  for (const form of ['', '&', 'payload', 'xpayload=1', 'a=payload=1', 'PAYLOAD=1'])
    await assert.rejects(readForm(form), Failure, form)
})

test('[ING-5] a value is decoded as browsers encode it; a percent sign without two digits stands for itself', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter }), async (text) => {
      const json = JSON.stringify(text)
      const { raw } = await readForm(new URLSearchParams({ a: text, payload: json, b: text }).toString())
      assert.equal(raw.toString(), json)
    }),
  )
  for (const [value, expected] of [
    ['"%"', '%'],
    ['"%2"', '%2'],
    ['"%g0"', '%g0'],
    ['"%%41"', '%A'],
    ['"%2B+"', '+ '],
    ['%22%c3%A9"', 'é'],
  ])
    assert.equal((await readForm(`payload=${value}`)).body, expected)
})

test('[ING-33] the field is decoded in steps if it is long, and other fields are not read', async () => {
  const json = JSON.stringify('+'.repeat(1_000_000))
  const alone = await turnsOf(read('application/json', json))
  const inForm = await turnsOf(readForm(`payload=${json}`))
  assert.ok(inForm - alone >= 60, `${inForm} turns, ${alone} without the form`)
  const others = 'a&'.repeat(500_000)
  assert.deepEqual((await readForm(`${others}payload={}&${others}`)).body, {})
  await assert.rejects(readForm(others), Failure)
})
