// `npm run faults`: work goes on while things break, and the ledger at the end is exact. Arguments choose scenarios by a
// part of their name; `--short` breaks each a few times, `--rounds N` says how often.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SCENARIOS } from './scenarios/all.ts'
import { carryOut, type Row } from './carry-out.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, rounds: { type: 'string' }, json: { type: 'string' } },
})
const rows: Row[] = []
let isBroken = false
for (const scenario of SCENARIOS) {
  if (positionals.length > 0 && !positionals.some((part) => scenario.name.includes(part))) continue
  for (const engine of scenario.engines) {
    const rounds = Number(values.rounds ?? (values.short ? scenario.rounds.short : scenario.rounds.long))
    if (rounds === 0) continue
    const outcome = await carryOut(scenario, engine, rounds)
    if (typeof outcome === 'string') {
      console.log(`${scenario.name}, ${engine}: left out, ${outcome}`)
      continue
    }
    rows.push(outcome.row)
    for (const sentence of outcome.broken.slice(0, 20)) console.error(`  broken: ${sentence}`)
    isBroken ||= outcome.broken.length > 0
    console.log(JSON.stringify(outcome.row))
  }
}
console.table(rows)
if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`)
process.exit(isBroken ? 1 : 0)
