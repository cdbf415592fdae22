// The power fails at every point of the embedded store's work: everything that was answered is stored, nothing is
// stored in part, and only leases may be forgotten.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { databaseFile } from '../../src/store/data-directory.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { sqlite } from '../support/engines.ts'
import { beginsAnew, halfCopied, layOut, recordCuts, remainsOf, type Cut } from '../support/power-cuts.ts'
import { startService, type Service, type TestAgent } from '../support/service.ts'
import { interest, poll, type DeliveryBody } from '../events/tools.ts'
import { memoryCalls } from '../memory/tools.ts'

let folder: string
before(() => void (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sensorium-power-'))))
after(() => fs.rmSync(folder, { recursive: true, force: true }))

/** What the responses confirmed to clients. */
interface Told {
  events: string[]
  acknowledged: string[]
  /** Made dead letters. */
  buried: string[]
  memories: string[]
  /** Of memories: their titles after a change, and the external ids of imported ones. */
  titles: string[]
  imported: string[]
  /** Deliveries that were handed out: their leases may be forgotten. */
  leased: string[]
}

const EVENTS = 7

/** Publishes, polls, settles, and stores and changes memories as an agent, and notes what was confirmed. */
async function work(service: Service, agent: TestAgent, told: Told, name: string): Promise<void> {
  for (let i = 0; i < EVENTS; i++) {
    const id = `${name}-${i}`
    const published = await service.call('POST /v1/events', {
      token: agent.token,
      headers: { 'idempotency-key': id },
      body: { specversion: '1.0', type: 'com.test.x', source: '/power', id },
    })
    if (published.status === 202) told.events.push(id)
    const deliveries: DeliveryBody[] = await poll(service, agent.token, 'limit=2')
    const delivery_ids = deliveries.map((delivery) => delivery.id)
    told.leased.push(...delivery_ids)
    const body = { delivery_ids: delivery_ids.slice(0, 1) }
    const acked = await service.call('POST /v1/delivery/ack', { token: agent.token, body })
    if (acked.body.acknowledged === 1) told.acknowledged.push(delivery_ids[0]!)
    if (i % 3 === 1 && delivery_ids.length > 1) {
      const nack = { delivery_ids: delivery_ids.slice(1), reason: 'poison', dead_letter: true }
      const buried = await service.call('POST /v1/delivery/nack', { token: agent.token, body: nack })
      if (buried.status === 200) told.buried.push(...nack.delivery_ids)
    }
    if (i % 4 === 0) await keepMemories(service, agent, told, id)
  }
}

async function keepMemories(service: Service, { token }: TestAgent, told: Told, id: string): Promise<void> {
  const memory = { type: 'semantic', scope: 'agent', title: id, content: `What ${id} was about.` }
  const made = await service.call('POST /v1/memories', { token, body: memory })
  if (made.status === 201) told.memories.push(made.body.id)
  const title = `${id}, changed`
  const changed = await service.call(`PATCH /v1/memories/${made.body.id}`, { token, body: { title } })
  if (changed.status === 200) told.titles.push(title)
  const lines = ['a', 'b'].map((name) => ({ kind: 'memory', ...memory, external_id: `${id}-${name}` }))
  const imported = await memoryCalls(service).importLines({ token }, lines)
  if (imported.body.created === 2) told.imported.push(...lines.map(({ external_id }) => external_id))
}

/** Opens the files that a power cut left, as a start of the service would, and compares them with `told`. */
function check(file: string, told: Told, recipients: number): { forgotten: string[] } {
  const db = new DatabaseSync(file)
  try {
    const column = (sql: string): string[] =>
      db
        .prepare(sql)
        .all()
        .map((row) => String(Object.values(row)[0]))
    const events = new Set(column('select id from events'))
    const acknowledged = new Set(column('select id from acknowledged_deliveries'))
    const memories = new Set(column("select id from memories where status = 'active'"))
    for (const id of told.events) assert.ok(events.has(id), `${id} was accepted`)
    for (const id of told.acknowledged) assert.ok(acknowledged.has(id), `${id} was acknowledged`)
    for (const id of told.memories) assert.ok(memories.has(id), `${id} was stored`)
    const buried = new Set(column("select id from deliveries where state = 'dead_lettered'"))
    for (const id of told.buried) assert.ok(buried.has(id), `${id} was made a dead letter`)
    const titles = new Set([...column('select title from memories'), ...column('select title from memory_texts')])
    for (const title of told.titles) assert.ok(titles.has(title), `${title} was stored`)
    const imported = new Set(column('select external_id from memories where external_id is not null'))
    for (const id of told.imported) assert.ok(imported.has(id), `${id} was imported`)
    // Nothing is stored in part.
    const all = 'select event_id from deliveries union all select event_id from acknowledged_deliveries'
    const counts = column(`select count(*) from (${all}) group by event_id`)
    assert.deepEqual([...new Set(counts)], events.size > 0 ? [String(recipients)] : [])
    assert.deepEqual(new Set(column(all)), events)
    assert.deepEqual(new Set(column('select idempotency_key from idempotency')), events)
    assert.deepEqual(column('select id from deliveries where id in (select id from acknowledged_deliveries)'), [])
    for (const sql of ['select id from memory_texts', 'select memory_id from memory_recall'])
      assert.deepEqual(new Set(column(sql)), memories)
    // A delivery that is not settled is on its first lease, or as if it had never been leased.
    const states = column("select distinct state || ' ' || attempts || ' ' || leases from deliveries")
    for (const state of states) assert.ok(['ready 0 0', 'leased 1 1', 'dead_lettered 1 1'].includes(state), state)
    const ready = new Set(column("select id from deliveries where state = 'ready'"))
    return { forgotten: told.leased.filter((id) => ready.has(id)) }
  } finally {
    db.close()
  }
}

test('[STO-1] [STO-2] [STO-16] [FLT-3] a power cut between any two flushes loses leases at most', async () => {
  // No vectors are made: nothing listens on this port.
  const service = await startService(sqlite, { EMBEDDINGS: 'http://127.0.0.1:9', EMBEDDINGS_MODEL: 'none' })
  const tenant = await service.tenant()
  const agents = [await tenant.agent(), await tenant.agent()]
  for (const agent of agents) await interest(service, agent)
  const told: Told = {
    ...{ events: [], acknowledged: [], buried: [], leased: [] },
    ...{ memories: [], titles: [], imported: [] },
  }
  const recorded = recordCuts(databaseFile(service.env['DATA_DIR']!), () => structuredClone(told))
  try {
    await Promise.all(agents.map((agent, i) => work(service, agent, told, `agent-${i}`)))
  } finally {
    recorded.stop()
    await service.stop()
  }
  assert.ok(recorded.cuts.length >= EVENTS, 'every response waits for a flush')
  for (const [what, ids] of Object.entries(told)) assert.ok(ids.length > 0, what)

  let lost: { cut: Cut<Told>; forgotten: string[] } | null = null
  for (const cut of recorded.cuts) {
    let isLeast = true
    for (const remains of remainsOf(cut)) {
      const { forgotten } = check(layOut(remains, folder), cut.told, agents.length)
      if (isLeast && forgotten.length > 0) lost = { cut, forgotten }
      isLeast = false
    }
  }
  assert.ok(lost, 'a lease was out before the disk had it')

  // The service starts on what is left: a delivery whose lease was forgotten comes again, as the same attempt.
  layOut(lost.cut, folder)
  const env = { DATA_DIR: folder, SENSORIUM_SECRET: service.env['SENSORIUM_SECRET']! }
  const again = await startService({ name: 'sqlite', fresh: async () => ({ env, drop: async () => {} }) })
  try {
    const found = (await Promise.all(agents.map((agent) => poll(again, agent.token)))).flat()
    for (const id of lost.forgotten) assert.equal(found.find((delivery) => delivery.id === id)?.attempt_count, 1)
  } finally {
    await again.stop()
  }
})

/** How many rows one transaction writes, and of how many transactions the rows are kept. */
const PARTS = 3
const KEPT = 8
/** How many transactions there are, and after how many of them the log is copied. */
const COMMITS = 36
const COPIED_EVERY = 10

function checkParts(file: string, told: number): void {
  const db = new DatabaseSync(file)
  try {
    const rows = db.prepare('select n, count(*) as parts from t group by n order by n').all()
    const last = Number(rows.at(-1)?.['n'] ?? 0)
    assert.ok(last >= told, `${told} was answered, and ${last} is there`)
    assert.equal(rows.length, Math.min(KEPT, last))
    for (const { parts } of rows) assert.equal(parts, PARTS, 'nothing is half there')
    assert.equal(db.prepare('pragma quick_check').get()!['quick_check'], 'ok')
  } finally {
    db.close()
  }
}

test('[STO-1] [FLT-3] a power cut while the log is copied into the database or restarts loses nothing', async () => {
  const fresh = await sqlite.fresh()
  const file = databaseFile(fresh.env['DATA_DIR']!)
  const store = openSqlite(file)
  const text = 'x'.repeat(9_000)
  await store.tx((tx) => tx.run('create table t (n integer, part integer, text text, primary key (n, part))'))
  // Copies like the checkpoint thread, at moments that the test chooses: for the thread there are too few commits.
  const copier = new DatabaseSync(file)
  let last = 0
  const recorded = recordCuts(file, () => last)
  try {
    for (let n = 1; n <= COMMITS; n++) {
      await store.tx(async (tx) => {
        for (let part = 0; part < PARTS; part++) await tx.run('insert into t values (?, ?, ?)', [n, part, text])
        await tx.run('delete from t where n = ?', [n - KEPT])
      })
      last = n
      if (n % COPIED_EVERY === 0) copier.prepare('pragma wal_checkpoint(passive)').get()
    }
  } finally {
    recorded.stop()
    copier.close()
    await store.close()
    await fresh.drop()
  }
  let begun = 0
  let copied = 0
  for (const cut of recorded.cuts) {
    if (beginsAnew(cut)) begun++
    const half = halfCopied(cut)
    if (half) copied++
    for (const remains of [...remainsOf(cut), ...(half ? [half] : [])]) checkParts(layOut(remains, folder), cut.told)
  }
  assert.ok(begun > 0 && copied > 0, `it began anew ${begun} times and was copied ${copied} times`)
})
