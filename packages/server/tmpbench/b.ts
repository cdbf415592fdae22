import { openSqlite } from '../src/store/sqlite.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { migrate } from '../src/store/migrate.ts'
import { insertMemory } from '../src/memory/sql.ts'
import { indexText } from '../src/memory/substring.ts'
import { listMemories } from '../src/memory/list.ts'
import { idMaker } from '../src/kernel/ids.ts'
import { reachedFrom } from '../src/memory/traverse.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { rmSync } from 'node:fs'
const which = process.argv[2]!, N = Number(process.argv[3] ?? 100000)
let pgs: any
rmSync('/tmp/t/bench.db', { force: true }); rmSync('/tmp/t/bench.db-wal', { force: true })
const store = which === 'sqlite' ? openSqlite('/tmp/t/bench.db') : openPostgres({ url: (pgs = await startPostgres()).url, clock: systemClock })
await migrate(store, 1)
const vocab = Array.from({ length: 20000 }, (_, i) => { let s = '', x = i * 2654435761 >>> 0; const l = 3 + x % 7; for (let k = 0; k < l; k++) { x = (x * 1103515245 + 12345) >>> 0; s += 'etaoinshrdlucmfwygpbvkxqjz'[Math.floor(((x >>> 8) % 1000) ** 1.5 / 31622 * 26)] } return s })
const word = () => vocab[Math.floor(Math.random() ** 3 * vocab.length)]!
const text = (n: number) => Array.from({ length: n }, word).join(' ')
const make = idMaker(Date.now)
let t = performance.now()
for (let i = 0; i < N; i += 200) {
  await store.tx(async (tx) => {
    for (let j = 0; j < 200; j++) {
      const row: any = { tenant_id: 'ten_1', id: make('memory'), agent_id: `agt_${(i + j) % 100}`, team_id: null, scope: (i + j) % 10 === 0 ? 'institutional' : 'agent', status: 'active', type: 'entity', expires_at: null, title: text(5), content: text(45), confidence: 1, importance: 1, metadata: '{}', project_id: null, source_type: null, source_id: null, source_url: null, source_event_id: null, freshness_date: null, created_at: 1, updated_at: 1, accessed_at: 1, text_version: 1 }
      if (i + j === 777) row.content += ' supercalifragilistic'
      await insertMemory(tx, row); await indexText(tx, row)
    }
  })
}
console.log(which, N, 'insert ms each', (performance.now() - t) / N)
if (which === 'postgres') { await store.rows('vacuum analyze'); console.log(await store.rows(`select pg_size_pretty(pg_relation_size('memory_texts_by_gram')) gin, pg_size_pretty(pg_total_relation_size('memory_texts')) texts, pg_size_pretty(pg_total_relation_size('memories')) memories`)) }
else console.log(await store.rows(`select name, sum(pgsize)/1048576 as mb from dbstat where name like 'memor%' group by name`).catch((e) => String(e)))
const big: any = { tenant_id: 'ten_1', id: make('memory'), agent_id: 'agt_1', team_id: null, scope: 'agent', title: 'x', content: text(6000).slice(0, 32768) }
t = performance.now(); await store.tx((tx) => indexText(tx, big)); console.log('32K text ms', performance.now() - t)
big.id = make('memory'); big.content = Array.from({ length: 32768 }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20000))).join('')
t = performance.now(); await store.tx((tx) => indexText(tx, big)); console.log('32K chinese ms', performance.now() - t)
const agent: any = { kind: 'agent', id: 'agt_3', tenantId: 'ten_1', teamId: 'blue' }, admin: any = { ...agent, kind: 'org_admin' }
for (const [name, who] of [['agent', agent], ['admin', admin]] as const) {
  for (const q of [undefined, 'supercalifrag', 'califragilistic', 'zq', 'eta', 'the ', 'e', vocab[15000], `${vocab[10]} ${vocab[500]}`]) {
    const times = []
    let total = 0
    for (let k = 0; k < 3; k++) { t = performance.now(); total = (await listMemories(store, who, q === undefined ? {} : { search: q }, 5)).total; times.push((performance.now() - t).toFixed(1)) }
    console.log(name, JSON.stringify(q), total, times.join(' '))
  }
}
const n = 900
await store.tx(async (tx) => {
  for (let i = 0; i < n; i++) await insertMemory(tx, { tenant_id: 'd', id: `m${i}`, agent_id: 'agt_3', team_id: null, scope: 'agent', status: 'active', type: 'entity', expires_at: null, title: 't', content: 'c', confidence: 1, importance: 1, metadata: '{}', project_id: null, source_type: null, source_id: null, source_url: null, source_event_id: null, freshness_date: null, created_at: 1, updated_at: 1, accessed_at: 1, text_version: 1 } as any)
  const rows: any[] = []
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j) rows.push(['d', `r${i}_${j}`, `m${i}`, `m${j}`, 'supports', 0.5, null, 'x', 1])
  const ins = { into: 'memory_relationships', columns: { tenant_id: 'text', id: 'text', source_memory_id: 'text', target_memory_id: 'text', relationship_type: 'text', strength: 'double precision', metadata: 'text', created_by: 'text', created_at: 'bigint' } } as any
  for (let i = 0; i < rows.length; i += 50000) await tx.insertMany(ins, rows.slice(i, i + 50000))
})
if (which === 'postgres') await store.rows('vacuum analyze')
for (const dir of ['out', 'in', 'both'] as const) { t = performance.now(); const r = await reachedFrom(store, { ...agent, tenantId: 'd' }, 'm0', 3, dir, 5); console.log('clique', dir, r.length, performance.now() - t) }
await store.close(); await pgs?.stop()
