import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEVIATIONS, LEFT_OUT } from './deviations.ts'
import { cases, verdict, type Case } from './support/conformance.ts'

const deviating = new Set(Object.values(DEVIATIONS).flat())
const tried = cases.filter((one) => !LEFT_OUT.some(({ applies }) => applies(one)))

test('[CEL-6] the suite is found, and most of it is run', () => {
  assert.ok(cases.length > 2300, String(cases.length))
  assert.ok(tried.length > 1600, String(tried.length))
})

const sections = Map.groupBy(tried, ({ id }) => id.split('/').slice(0, 2).join('/'))
for (const [section, members] of sections) {
  test(`[CEL-6] the official suite of CEL: ${section}`, () => {
    const wrong = members.filter(({ id }) => !deviating.has(id)).flatMap(complaint)
    assert.deepEqual(wrong, [])
  })
}

function complaint(one: Case): string[] {
  const found = verdict(one)
  return found === null ? [] : [`${one.id}: ${one.source}: ${found}`]
}

for (const [reason, ids] of Object.entries(DEVIATIONS)) {
  test(`[CEL-6] deliberate deviation: ${reason}`, () => {
    const byId = new Map(tried.map((one) => [one.id, one]))
    for (const id of ids) {
      const one = byId.get(id)
      assert.ok(one !== undefined, `${id} is not in the suite`)
      assert.notEqual(verdict(one), null, `${id} conforms, and need not be listed`)
    }
  })
}
