// Work goes on while nodes are killed, the database crashes and the clock steps: the short form of `npm run faults`,
// with all faults at one site.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOut } from '../../../../faults/carry-out.ts'
import { SCENARIOS } from '../../../../faults/scenarios/all.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  const plan = SCENARIOS.filter(({ engines, rounds }) => engines.includes(engine) && rounds.short > 0).map(
    (scenario) => ({ scenario, rounds: scenario.rounds.short }),
  )
  const faults = plan.map(({ scenario }) => scenario.name).join(', ')
  const skip = engine === 'postgres' && !process.env['TEST_POSTGRES_URL'] ? 'PostgreSQL is missing' : false
  test(`[STO-1] [DLV-4] [DLV-10] [NODE-5] [FLT-1] on ${engine}, nothing is lost and nothing comes twice: ${faults}`, {
    skip,
    timeout: 600_000,
  }, async () => {
    const outcome = await carryOut(plan, engine, { pushes: false })
    assert.ok(typeof outcome !== 'string', String(outcome))
    assert.deepEqual(outcome.broken, [])
    assert.ok(outcome.row.accepted > 0 && outcome.row.acknowledged > 0)
  })
}
