// Work goes on while nodes are killed, the database crashes and the clock steps: the short form of `npm run faults`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOut } from '../../../../faults/carry-out.ts'
import { SCENARIOS } from '../../../../faults/scenarios/all.ts'

for (const scenario of SCENARIOS) {
  if (scenario.rounds.short === 0) continue
  for (const engine of scenario.engines) {
    const skip = engine === 'postgres' && !process.env['TEST_POSTGRES_URL'] ? 'PostgreSQL is missing' : false
    test(`[STO-1] [DLV-4] [DLV-10] [NODE-5] [FLT-1] ${scenario.name}, on ${engine}: nothing is lost, and nothing comes twice`, {
      skip,
      timeout: 180_000,
    }, async () => {
      const outcome = await carryOut(scenario, engine, scenario.rounds.short)
      assert.ok(typeof outcome !== 'string', String(outcome))
      assert.deepEqual(outcome.broken, [])
      assert.ok(outcome.row.accepted > 0 && outcome.row.acknowledged > 0)
    })
  }
}
