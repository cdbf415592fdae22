// On the embedded store the segments of the full-text indexes are merged beside the writes and not inside of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeMerging } from '../../../src/memory/index/merge-sqlite.ts'
import { sqlite } from '../../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { memoryCalls } from '../tools.ts'

const INDEXES = ['memory_words', 'memory_grams'] as const

const service = serviceForSuite(sqlite)
const tenant = tenantForSuite(service)
const agent = agentForSuite(tenant)
const calls = memoryCalls(service)

/** Returns how many segments an index has: the second number of its structure record, after a cookie of four bytes. */
async function segmentsOf(index: (typeof INDEXES)[number]): Promise<number> {
  const [row] = await service.store.rows<{ block: Buffer }>(`select block from ${index}_data where id = 10`)
  const [, afterLevels] = varint(Buffer.from(row!.block), isSecondForm(row!.block) ? 8 : 4)
  return varint(Buffer.from(row!.block), afterLevels)[0]
}

/** The form of FTS5 with origins, which only some tables have, begins with a marker. */
const isSecondForm = (block: Uint8Array): boolean => block[4] === 0xff

function varint(bytes: Buffer, at: number): [value: number, next: number] {
  let value = 0
  for (let next = at; ; next++) {
    const byte = bytes[next]!
    value = (value << 7) | (byte & 0x7f)
    if (byte < 0x80) return [value, next + 1]
  }
}

async function write(memories: number): Promise<void> {
  for (let i = 0; i < memories; i++) await calls.make(agent, { title: `Note ${i}`, content: `The ferry of quay ${i}.` })
}

test('[LOAD-12] after a burst of memories few segments are left, and everything is found', async () => {
  await write(40)
  for (const index of INDEXES) {
    // A merge takes a few turns, and forty memories some dozens of them.
    for (let turn = 0; turn < 20_000 && (await segmentsOf(index)) > 6; turn++) await nextTurn()
    assert.ok((await segmentsOf(index)) <= 6, index)
  }
  const found = await calls.search(agent, 'quay 39', { limit: 5 })
  assert.equal(found[0]!.memory.title, 'Note 39')
})

test('[LOAD-12] a commit merges nothing, and once it is closed nothing is merged', async () => {
  for (const index of INDEXES) {
    const config = await service.store.rows<{ v: number }>(`select v from ${index}_config where k = 'automerge'`)
    assert.deepEqual(config, [{ v: 0 }])
  }
  let transactions = 0
  const store = { ...service.store, tx: (async () => void transactions++) as unknown as typeof service.store.tx }
  const merging = makeMerging(store)
  for (let i = 0; i < 3; i++) merging.noteWritten()
  assert.equal(transactions, 0, 'three segments are not merged')
  await merging.close()
  for (let i = 0; i < 8; i++) merging.noteWritten()
  assert.equal(transactions, 0)
})
