// Facts of memories from before there were facts: a migration made the first ones, and the background run mends them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openIndex } from '../../../src/memory/index/open-index.ts'
import { WORD_RULES } from '../../../src/memory/index/terms.ts'
import { rewordMemories } from '../../../src/memory/reword.ts'
import type { Db } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { onBothEngines } from '../../support/engines.ts'
import { emptyStore, migrateTo } from '../../support/store.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')
const LATER = NOW + 60_000

const METADATA: Record<string, string> = {
  mem_1: '{"host":"cloud-7","plain":1}',
  mem_2: '{"host":"pear-7"}',
  mem_3: '{"city":"M\\u00fcnchen"}',
  mem_4: '{"half":"\\ud800"}',
  mem_5: '{"zero":"u0000"}',
}
const FACTS: [memory: string, name: string, value: string][] = [
  ['mem_1', '"host"', '"cloud-7"'],
  ['mem_1', '"plain"', '1'],
  ['mem_2', '"host"', '"pear-7"'],
  ['mem_3', '"city"', '"München"'],
  ['mem_4', '"half"', '"\\ud800"'],
  ['mem_5', '"zero"', '"u0000"'],
]

async function addMemory(tx: Db, id: string, metadata: string): Promise<void> {
  await tx.run(
    `insert into memories (tenant_id, id, agent_id, scope, status, type, confidence, importance, created_at, updated_at,
       accessed_at, text_version, title, content, metadata)
     values ('ten_a', ?, 'agt_a', 'agent', 'active', 'semantic', 1, 1, ?, 1, 1, 1, 'A title', 'and a text', ?)`,
    [id, NOW - 1, metadata],
  )
  await tx.run(
    "insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until) values ('ten_a', ?, 3, 1, 'model', 0)",
    [id],
  )
}

onBothEngines((engine) => {
  test('[RCL-71] facts that an upgrade left out or wrote escaped are written again in the background', async (t) => {
    const { store, config, drop } = await emptyStore(engine)
    t.after(drop)
    await store.tx(async (tx) => {
      await migrateTo(tx, 19, NOW)
      for (const [id, metadata] of Object.entries(METADATA)) await addMemory(tx, id, metadata)
      await migrateTo(tx, 32, NOW)
      await tx.run('update memory_recall set word_rules = ?', [WORD_RULES])
    })
    await migrate(store, NOW)
    const index = openIndex(config, store, () => {})
    await rewordMemories(store, index, LATER)
    await index.close()
    const rows = await store.rows<{ memory_id: string; name: string; value: string }>(
      'select memory_id, name, value from memory_facts order by memory_id, name',
    )
    assert.deepEqual(
      rows.map(({ memory_id, name, value }) => [memory_id, name, value]),
      FACTS,
    )
    assert.equal(await rewordMemories(store, index, LATER), 0)
  })
})
