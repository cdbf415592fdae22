// The page maps a sample as the service does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileMapping, completeMapping, type FullMapping } from '../../server/src/ingest/mapping.ts'
import { PRESET_MAPPINGS } from '../../server/src/ingest/webhooks/presets.ts'
import { atOnce } from '../../server/src/kernel/step-turns.ts'
import { makeReadSample } from '../src/pages/ingestion/read-sample.ts'
import { SAMPLES } from '../src/pages/ingestion/samples.ts'

type Headers = Record<string, string>

async function bothRead(mapping: FullMapping, body: unknown, headers: Headers = {}) {
  const raw = Buffer.from(JSON.stringify(body))
  const { text } = atOnce(compileMapping('shop', mapping).map({ body, raw, headers, now: 0 }))
  const event = JSON.parse(text) as Record<string, unknown>
  const reading = (await makeReadSample('shop', mapping))(body, headers)
  return {
    service: { type: event['type'], id: event['id'], subject: event['subject'] ?? null, data: event['data'] },
    page: { type: reading.type, id: reading.id, subject: reading.subject, data: reading.data },
    problems: reading.problems,
  }
}

test('[UI-33] a body is mapped as the service maps it, or left unmapped', async () => {
  const bodies = [
    { entity: 'Order Line', action: 'created', id: 'o-1', total: 40 },
    { entity: 7, action: 'x', id: 9 },
    { entity: 'order', action: 'created', id: 12.5 },
    { entity: 'order', id: 'o-2' },
    ['a', 'list'],
  ]
  const own = completeMapping({ data: '{"sum": body.total}' })
  for (const mapping of [completeMapping(), own, PRESET_MAPPINGS.stripe.mapping])
    for (const body of bodies) {
      const { service, page } = await bothRead(mapping, body)
      // The page computes no hash, and no short data of a preset.
      const { id, ...rest } = service
      assert.deepEqual({ ...page, id: undefined }, { ...rest, id: undefined }, JSON.stringify(body))
      if (page.id !== null) assert.equal(page.id, id)
      else assert.match(String(id), /^shop:[0-9a-f]{64}$/)
    }
})

test('[UI-33] the samples of presets are mapped, and what only the service can do is stated', async () => {
  for (const preset of ['github', 'stripe'] as const) {
    const headers: Headers = preset === 'github' ? { 'x-github-event': 'issues', 'x-github-delivery': 'sample-1' } : {}
    const body = JSON.parse(SAMPLES[preset].body) as unknown
    const { service, page, problems } = await bothRead(PRESET_MAPPINGS[preset].mapping, body, headers)
    assert.deepEqual([page.type, page.id, page.subject], [service.type, service.id, service.subject])
    assert.doesNotMatch(page.type, /unmapped/)
    assert.deepEqual(
      problems.map(({ part }) => part),
      ['data'],
    )
  }
})
