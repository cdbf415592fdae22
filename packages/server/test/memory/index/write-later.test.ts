// The words of a long text are written after its memory, in parts, and are all there when the response comes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Principal } from '../../../src/auth/principal.ts'
import { idMaker } from '../../../src/kernel/ids.ts'
import { openIndex } from '../../../src/memory/index/open-index.ts'
import { WORD_RULES } from '../../../src/memory/index/terms.ts'
import { PART } from '../../../src/memory/index/write-sqlite.ts'
import { makeWriteLater } from '../../../src/memory/index/write-later.ts'
import type { LaterWords } from '../../../src/memory/index/engine-writer.ts'
import { remember } from '../../../src/memory/remember.ts'
import type { Db, Store } from '../../../src/store/db.ts'
import { makeQuotas } from '../../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../../src/tenants/settings.ts'
import { onBothEngines } from '../../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { turnsUntil } from '../../support/turns-until.ts'
import { countWords } from '../count-words.ts'
import { aMemory, everyCharacter, memoryCalls } from '../tools.ts'

/** Records the parts that are written; a part ends when `pass` is called. */
function recordedWrites(isCurrent = (_: LaterWords<string>): boolean => true) {
  const written: string[] = []
  const held: (() => void)[] = []
  let open = 0
  const store = {
    tx: async (work: (tx: Db) => Promise<unknown>) => {
      assert.equal(++open, 1, 'one transaction at a time')
      await new Promise<void>((resolve) => void held.push(resolve))
      open--
      return work({} as Db)
    },
  } as unknown as Pick<Store, 'tx'>
  const noted: string[] = []
  const later = makeWriteLater<string>(
    store,
    {
      addWords: async (_tx, words) => {
        if (!isCurrent(words)) return false
        written.push(`${words.id}${words.part}${words.isLast ? '.' : ''}`)
        return true
      },
      noteChange: (_tx, _tenantId, id) => void noted.push(id),
    },
    assert.ifError,
  )
  const write = (tenant_id: string, id: string, parts = 2) =>
    later.write({ tenant_id, id, agent_id: 'a', version: 1, parts: Array.from({ length: parts }, String) })
  async function passAll(): Promise<void> {
    for (let idle = 0; idle < 10; idle++) {
      if (held.length > 0) idle = 0
      held.shift()?.()
      await nextTurn()
    }
  }
  return { written, noted, later, write, passAll, held }
}

test('[LOAD-13] parts are written one at a time, tenants take turns, and the last tells of the change', async () => {
  const { written, noted, write, passAll } = recordedWrites()
  const loud = ['a', 'b', 'c', 'e', 'f', 'g'].map((id) => write('loud', id))
  const done = Promise.all([...loud, write('quiet', 'd')])
  await passAll()
  await done
  assert.equal(written.length, 14)
  assert.ok(written.indexOf('d1.') <= 6, String(written))
  assert.deepEqual(noted.toSorted(), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

test('[LOAD-13] nothing more is written for a text that has changed', async () => {
  const { written, noted, write, passAll } = recordedWrites(({ part }) => part < 1)
  const done = write('one', 'a', 4)
  await passAll()
  await done
  assert.deepEqual([written, noted], [['a0'], []])
})

test('[LOAD-13] with four texts to be written the next one waits before it is analysed', async () => {
  const { later, write, passAll, held } = recordedWrites()
  const writes = ['a', 'b', 'c'].map((id) => write('one', id))
  await later.hasRoom()
  writes.push(write('one', 'd'))
  let hadRoom = 0
  const rooms = [1, 2].map(() => later.hasRoom().then(() => void hadRoom++))
  await nextTurn()
  assert.deepEqual([hadRoom, held.length], [0, 1])
  await passAll()
  await Promise.all([...writes, ...rooms])
  assert.equal(hadRoom, 2)
})

test('[LOAD-13] a store that is away is no failure of the request, and leaves room', async () => {
  const away = { tx: () => Promise.reject(new Error('away')) } as unknown as Pick<Store, 'tx'>
  const failures: unknown[] = []
  const engine = { addWords: async () => true, noteChange() {} }
  const later = makeWriteLater<string>(away, engine, (error) => failures.push(error))
  for (let i = 0; i < 5; i++)
    await later.write({ tenant_id: 't', id: 'm', agent_id: 'a', version: 1, parts: ['0', '1'] })
  await later.hasRoom()
  assert.equal(failures.length, 5)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)

  /** Numbers in base 36 with a letter in front: English has no forms of them, and each is a word. */
  const numbered = (count: number, prefix: string): string =>
    Array.from({ length: count }, (_, i) => prefix + i.toString(36)).join(' ')
  const isFound = async (word: string): Promise<boolean> =>
    (await calls.search(agent, word, { explain: true })).some(({ signals }) => signals!.lexical > 0)

  async function stateOf(id: string) {
    const [row] = await service.store.rows<{ word_rules: number; version: number }>(
      'select word_rules, version from memory_recall where tenant_id = ? and memory_id = ?',
      [tenant.id, id],
    )
    return row!
  }
  /** Returns how many words of a memory are indexed. */
  async function indexed(id: string): Promise<number> {
    const [row] = await service.store.rows<{ n: number }>(
      engine.name === 'sqlite'
        ? `select count(distinct term) as n from memory_word_places p
             join memory_recall r on r.doc = p.doc % ${PART} where r.memory_id = ?`
        : 'select count(*) as n from memory_words where memory_id = ?',
      [id],
    )
    return Number(row!.n)
  }

  test('[LOAD-13] a memory with very many words is found by each of them right after its response', async () => {
    const content = numbered(5_000, 'q')
    const { id } = await calls.make(agent, { title: 'Numbers', content })
    assert.equal(await indexed(id), countWords('Numbers', content).counts.size)
    for (const word of ['q0', 'q2hj', 'q3uv']) assert.ok(await isFound(word), word)

    const changed = numbered(4_500, 'w')
    await calls.patch(agent, id, { content: changed })
    assert.equal(await indexed(id), countWords('Numbers', changed).counts.size)
    assert.deepEqual([await isFound('q2hj'), await isFound('w2hj'), await isFound('w0')], [false, true, true])

    const restored = await service.call(`POST /v1/memories/${id}/restore`, { token: agent.token, body: { version: 1 } })
    assert.equal(restored.status, 200, restored.text)
    assert.equal(await indexed(id), countWords('Numbers', content).counts.size)

    await calls.patch(agent, id, { content: 'Few words are left.' })
    assert.equal(await indexed(id), countWords('Numbers', 'Few words are left.').counts.size)
    assert.equal(await isFound('q2hj'), false)

    await calls.patch(agent, id, { content })
    await calls.forget(agent, id)
    assert.equal(await indexed(id), 0)
    assert.equal(await isFound('q0'), false)
  })

  test('[LOAD-13] so is one that was put by its external id, or imported', async () => {
    const content = numbered(5_000, 'v')
    const words = countWords('Numbers', content).counts.size
    const path = 'PUT /v1/memories/by-external-id/numbers'
    const put = await service.call(path, { token: agent.token, body: { ...aMemory, title: 'Numbers', content } })
    assert.equal(put.status, 201, put.text)
    assert.equal(await indexed(put.body.id), words)
    const line = { ...aMemory, title: 'Numbers', content: numbered(5_000, 'u'), external_id: 'imported' }
    const imported = await calls.importLines(agent, [line])
    assert.equal(imported.body.created, 1, imported.text)
    for (const word of ['u0', 'u3uv']) assert.ok(await isFound(word), word)
  })

  test('[LOAD-13] each part is a transaction of its own, and none has more than 2,048 words', async () => {
    const content = everyCharacter.slice(0, 12_000)
    const { id } = await calls.make(agent, { title: 'Characters', content })
    const words = countWords('Characters', content).counts.size
    assert.equal(await indexed(id), words)
    if (engine.name !== 'sqlite') return
    const parts = await service.store.rows<{ n: number }>(
      `select count(distinct term) as n from memory_word_places p
         join memory_recall r on r.doc = p.doc % ${PART} where r.memory_id = ? group by p.doc`,
      [id],
    )
    assert.equal(parts.length, Math.ceil(words / 2_048))
    for (const { n } of parts) assert.ok(n <= 2_048, String(n))
  })

  test('[LOAD-13] words that were all written meanwhile are not taken away to be written again', async () => {
    const content = numbered(5_000, 'y')
    const made = await calls.make(agent, { title: 'Numbers', content })
    const { version } = await stateOf(made.id)
    const texts = { tenant_id: tenant.id, id: made.id, agent_id: agent.id, title: 'Numbers', content }
    const { index } = service.app.memory
    // As a run that has read it before its last part was written.
    await index.analyseAhead({ tenantId: tenant.id, id: agent.id }, texts.title, content)
    assert.equal(await service.store.tx((tx) => index.reword(tx, texts, Number(version))), false)
    assert.equal(await indexed(made.id), countWords('Numbers', content).counts.size)
    assert.equal((await stateOf(made.id)).version, version)
  })

  test('[LOAD-13] words that a stop of the service left out are written later', async () => {
    const principal = { kind: 'agent', id: agent.id, tenantId: tenant.id, teamId: null } as Principal
    const stop = Promise.withResolvers<never>()
    const stopped = { ...service.store, tx: () => stop.promise } as Store
    const index = openIndex(service.config, stopped, () => {})
    const content = numbered(5_000, 'z')
    const { written } = await index.analyseAhead({ tenantId: tenant.id, id: agent.id }, aMemory.title, content)
    const { now } = service.clock
    const quotas = makeQuotas(service.store, service.clock, () => NO_SETTINGS)
    const { id } = await service.store.tx((tx) =>
      remember(tx, { now, index, quotas, makeId: idMaker(now) }, principal, { ...aMemory, content }),
    )
    const { version } = await stateOf(id)
    const texts = { tenant_id: tenant.id, id, agent_id: agent.id, title: aMemory.title, content }
    const isReworded = await service.store.tx((tx) => index.reword(tx, texts, Number(version)))
    assert.equal(isReworded, false, 'its words are being written')
    stop.reject(new Error('stopped'))
    await written()
    assert.deepEqual([await indexed(id), (await stateOf(id)).word_rules], [0, 0])
    if (engine.name === 'postgres') {
      assert.equal(await service.app.runOnce.rewordMemories(), 0, 'another node may be writing them')
      await service.clock.advance(30_000)
    }
    // The service's own run may be writing them, and then this one leaves them to it.
    await service.app.runOnce.rewordMemories()
    await turnsUntil(async () => (await stateOf(id)).word_rules === WORD_RULES)
    assert.equal(await indexed(id), countWords(aMemory.title, content).counts.size)
    assert.ok(await isFound('z2hj'))
    await index.close()
  })
})
