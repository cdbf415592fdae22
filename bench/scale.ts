// Costs that must not grow with the size of the store: that of a publish with the interests that do not match, with the
// events that are stored and with the tenants, and that of a poll with the deliveries that wait. `ratio` compares the
// large store with the small one of the same run.
import { filters } from './scale/filters.ts'
import { interests } from './scale/interests.ts'
import { pending } from './scale/pending.ts'
import type { Engine, Row } from './scale/prepare.ts'
import { stored } from './scale/stored.ts'
import { tenants } from './scale/tenants.ts'
import { report } from './support/report.ts'

const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as Engine[]
const ALL = { interests, filters, pending, stored, tenants }
const PARTS = (process.env['BENCH_PARTS'] ?? Object.keys(ALL).join(',')).split(',')

const rows: Row[] = []
for (const engine of ENGINES)
  for (const [name, measure] of Object.entries(ALL)) if (PARTS.includes(name)) rows.push(...(await measure(engine)))
report('scale', rows)
