// `npm run faults`: work goes on while things break, and the ledger at the end is exact. Arguments choose scenarios by
// a part of their name. `--short` breaks each a few times on one site, `--rounds N` says how often, `--engine` on which
// engine, `--json FILE` where the table goes. After a SIGTERM nothing more is broken, and the ledger judges what was.
// The exit code is 0 only if something ran and nothing was lost.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SCENARIOS } from './scenarios/all.ts'
import { carryOut, type Planned, type Row } from './carry-out.ts'
import type { EngineName } from './site.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    engine: { type: 'string' },
    json: { type: 'string' },
  },
})
const ENGINES = ['sqlite', 'postgres'] as const

/** Returns what is wrong with the arguments: a run that breaks nothing would look like one that found nothing. */
function problemOf(): string | null {
  const { engine, rounds } = values
  const unknown = positionals.find((part) => !SCENARIOS.some(({ name }) => name.includes(part)))
  if (unknown !== undefined)
    return `No scenario has ${unknown} in its name. There are: ${SCENARIOS.map(({ name }) => name).join(', ')}`
  if (engine !== undefined && !ENGINES.some((name) => name === engine))
    return `--engine takes ${ENGINES.join(' or ')}, not ${engine}`
  if (rounds !== undefined && !/^[1-9]\d*$/.test(rounds)) return `--rounds takes a number from 1 on, not ${rounds}`
  return null
}
const problem = problemOf()
if (problem !== null) {
  console.error(problem)
  process.exit(1)
}

const isChosen = (name: string): boolean => positionals.length === 0 || positionals.some((part) => name.includes(part))
const rows: Row[] = []
let isBroken = false
let isOver = false
/** A line for so many rounds: the long form takes an hour. */
const LINE_EVERY = 10

process.once('SIGTERM', () => (isOver = true))

async function run(plan: readonly Planned[], engine: EngineName): Promise<void> {
  const outcome = await carryOut(plan, engine, {
    pushes: !values.short,
    isOver: () => isOver,
    onRound: ({ name }, round) => round % LINE_EVERY === 0 && console.error(`${name}, ${engine}: ${round} times`),
  })
  if (typeof outcome === 'string')
    return console.log(`${plan.map(({ scenario }) => scenario.name).join(', ')}, ${engine}: left out, ${outcome}`)
  rows.push(outcome.row)
  for (const sentence of outcome.broken.slice(0, 20)) console.error(`  broken: ${sentence}`)
  isBroken ||= outcome.broken.length > 0
  console.log(JSON.stringify(outcome.row))
}

for (const engine of ENGINES) {
  if (isOver || (values.engine !== undefined && values.engine !== engine)) continue
  const planned = SCENARIOS.filter(({ name, engines }) => isChosen(name) && engines.includes(engine))
    .map((scenario): Planned => {
      const { short, long } = scenario.rounds
      return { scenario, rounds: Number(values.rounds ?? (values.short ? short : long)) }
    })
    .filter(({ rounds }) => rounds > 0)
  if (planned.length === 0) continue
  if (values.short) await run(planned, engine)
  else for (const one of planned) if (!isOver) await run([one], engine)
}
console.table(rows)
if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`)
if (rows.length === 0) console.error('Nothing ran')
process.exit(isBroken || rows.length === 0 ? 1 : 0)
