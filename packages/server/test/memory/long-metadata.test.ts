// Metadata that is too long for the row of its memory, from its creation to its end.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Memory, MemoryVersion } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { discardUnlessNamed, sweepMetadata } from '../../src/memory/discard-metadata.ts'
import { placeMetadata } from '../../src/memory/long-metadata.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { setSettings } from '../tenants/tools.ts'
import { aMemory, memoryCalls } from './tools.ts'

const SHORT = { metadata: '{}', metadata_bytes: 3 }

/** As JSON text, with a character of four bytes at every offset of a part's end in one of them. */
const long = (n: number, mark = ''): string => `{ "${mark}list" : ["${'x'.repeat(n % 4)}${'🙂'.repeat(70_000)}"] }`

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)
  let tenant: TestTenant
  let agent: TestAgent
  const headers = { 'content-type': 'application/json' }

  const post = (metadata: string, more: object = {}) => {
    const body = JSON.stringify({ ...aMemory, ...more })
    return service.call<Memory>('POST /v1/memories', {
      token: agent.token,
      headers,
      raw: `${body.slice(0, -1)},"metadata":${metadata}}`,
    })
  }
  const patch = (id: string, metadata: string) =>
    service.call<Memory>(`PATCH /v1/memories/${id}`, { token: agent.token, headers, raw: `{"metadata":${metadata}}` })
  const put = (externalId: string, metadata: string) =>
    service.call<Memory>(`PUT /v1/memories/by-external-id/${externalId}`, {
      token: agent.token,
      headers,
      raw: `${JSON.stringify(aMemory).slice(0, -1)},"metadata":${metadata}}`,
    })
  const restore = (id: string, version: number) =>
    service.call<Memory>(`POST /v1/memories/${id}/restore`, { token: agent.token, body: { version } })
  const get = async (id: string): Promise<string> => (await calls.get(agent, id)).text
  const history = (id: string) =>
    service.call<{ versions: MemoryVersion[] }>(`GET /v1/memories/${id}/history`, { token: agent.token })

  /** Returns how many texts are stored, of which how many nobody names, once nothing is under way. */
  async function stored(): Promise<{ texts: number; unnamed: number }> {
    await service.clock.advance(1)
    const [row] = await service.store.rows<{ texts: number; unnamed: number }>(
      `select (select count(distinct id) from long_metadata where tenant_id = ?) as texts,
              (select count(*) from unnamed_metadata where tenant_id = ?) as unnamed`,
      [tenant.id, tenant.id],
    )
    return { texts: Number(row!.texts), unnamed: Number(row!.unnamed) }
  }
  const sweep = () => service.app.runOnce.sweepMetadata()

  let memory: Memory
  const metadata = long(0)
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
    const made = await post(metadata, { content: 'An unusual walrus' })
    assert.equal(made.status, 201, made.text)
    memory = made.body
  })

  test('[RCL-75] it is stored in parts beside the row, and shown everywhere as the text that was sent', async () => {
    for (let n = 0; n < 4; n++) {
      const made = await post(long(n))
      assert.ok(made.text.includes(`"metadata":${long(n)}`))
      assert.ok((await get(made.body.id)).includes(`"metadata":${long(n)}`))
    }
    const shown = `"metadata":${metadata}`
    assert.ok((await service.call('GET /v1/memories', { token: agent.token })).text.includes(shown))
    assert.ok((await calls.exported(agent)).includes(shown))
    assert.ok((await history(memory.id)).text.includes(shown))
    const query = { token: agent.token, body: { query: 'walrus' } }
    assert.ok((await service.call('POST /v1/memories/search', query)).text.includes(shown))
    const parts = await service.store.rows<{ bytes: number }>(
      'select octet_length(text) as bytes from long_metadata where tenant_id = ?',
      [tenant.id],
    )
    assert.ok(parts.length > 5 && parts.every(({ bytes }) => bytes <= 262_144))
    const [row] = await service.store.rows<{ metadata: string }>('select metadata from memories where id = ?', [
      memory.id,
    ])
    assert.equal(row!.metadata, '{}')
    assert.deepEqual(await stored(), { texts: 5, unnamed: 0 })
  })

  test('[RCL-75] a change of another field leaves it alone, and another metadata is another version', async () => {
    await calls.patch(agent, memory.id, { importance: 0.9 })
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
    const second = await patch(memory.id, long(1))
    assert.ok(second.text.includes(`"metadata":${long(1)}`))
    const third = await patch(memory.id, '{"short":1}')
    assert.deepEqual(third.body.metadata, { short: 1 })
    const { versions } = (await history(memory.id)).body
    assert.deepEqual(
      versions.map(({ version, fields }) => [version, Object.keys(fields).length, fields['metadata']]),
      [
        [4, 1, { short: 1 }],
        [3, 1, JSON.parse(long(1))],
        [2, 1, undefined],
        [1, Object.keys(versions[3]!.fields).length, JSON.parse(metadata)],
      ],
    )
    const names = Object.keys(versions[3]!.fields)
    assert.ok(!names.includes('metadata_id') && !names.includes('metadata_bytes'), names.join())
  })

  test('[RCL-75] an older version is restored with its metadata, which both then name', async () => {
    await patch(memory.id, '{"short":1}')
    const restored = await restore(memory.id, 1)
    assert.equal(restored.status, 200, restored.text.slice(0, 300))
    assert.ok(restored.text.includes(`"metadata":${metadata}`))
    assert.ok((await get(memory.id)).includes(`"metadata":${metadata}`))
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
    await patch(memory.id, '{"short":2}')
    assert.ok((await restore(memory.id, 1)).text.includes(`"metadata":${metadata}`))
  })

  test('[RCL-75] a response under an idempotency key shows it as it was, also after a change', async () => {
    const key = { 'idempotency-key': `long-${memory.id}` }
    const request = { token: agent.token, headers: { ...headers, ...key }, raw: `{"metadata":${long(2)}}` }
    const first = await service.call(`PATCH /v1/memories/${memory.id}`, request)
    await patch(memory.id, long(3))
    const replayed = await service.call(`PATCH /v1/memories/${memory.id}`, request)
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
    assert.equal(replayed.text, first.text)
  })

  test('[RCL-75] what is put, changed or imported again changes nothing', async () => {
    const name = 'walrus'
    assert.equal((await put(name, long(1))).status, 201)
    const again = await put(name, long(1))
    assert.equal(again.status, 200)
    assert.equal((await history(again.body.id)).body.versions.length, 1)
    await patch(memory.id, metadata)
    assert.equal((await history(memory.id)).body.versions.length, 1)
    const lines = await calls.exported(agent)
    const { counts } = await calls.imported(agent, lines)
    assert.deepEqual([counts[0], counts[1]], [0, 0])
    assert.deepEqual(await stored(), { texts: 2, unnamed: 0 })
    const stranger = await tenant.agent()
    assert.equal((await calls.imported(stranger, lines)).counts[0]! > 0, true)
    assert.ok((await calls.exported(stranger)).includes(`"metadata":${metadata}`))
  })

  test('[RCL-75] a merge notes in it what was merged', async () => {
    const other = await calls.make(agent, { title: 'The same again' })
    const merged = await service.call<Memory>(`POST /v1/memories/${memory.id}/merge`, {
      token: agent.token,
      body: { memory_ids: [other.id] },
    })
    assert.equal(merged.status, 200, merged.text.slice(0, 300))
    const { list, derived_from } = (await calls.get(agent, memory.id)).body.metadata
    assert.deepEqual(derived_from, [other.id])
    assert.deepEqual(list, (JSON.parse(metadata) as { list: unknown }).list)
    assert.deepEqual(await stored(), { texts: 2, unnamed: 0 })
    const { counts } = await calls.imported(agent, await calls.exported(agent))
    assert.deepEqual([counts[0], counts[1]], [0, 0])
  })

  test('[RCL-75] a merge writes it ahead of its transaction, if it changes at all', async (t) => {
    let transactions = 0
    t.after(afterEach(agent, async (count) => void (transactions = count)))
    const merge = async (): Promise<number> => {
      const other = await calls.make(agent, { title: 'The same again' })
      const before = transactions
      const body = { memory_ids: [other.id] }
      const merged = await service.call(`POST /v1/memories/${memory.id}/merge`, { token: agent.token, body })
      assert.equal(merged.status, 200, merged.text.slice(0, 300))
      return transactions - before
    }
    assert.equal(await merge(), 3, 'two parts, and the merge')
    assert.equal(await merge(), 1, 'of long metadata the first note stays')
    assert.deepEqual(await stored(), { texts: 2, unnamed: 0 })
  })

  test('[RCL-75] what an older release wrote into the row is the same when it comes again', async () => {
    const name = 'old'
    const { id } = (await put(name, metadata)).body
    const asBefore =
      'update memories set metadata = ?, metadata_id = null, metadata_bytes = null where tenant_id = ? and id = ?'
    await service.store.tx((tx) => tx.run(asBefore, [metadata, tenant.id, id]))
    assert.equal((await put(name, metadata)).status, 200)
    await patch(id, metadata)
    const { counts } = await calls.imported(agent, await calls.exported(agent))
    assert.deepEqual([counts[0], counts[1]], [0, 0])
    assert.equal((await history(id)).body.versions.length, 1)
    const changed = await patch(id, long(0, 'y'))
    assert.ok(changed.text.includes(`"metadata":${long(0, 'y')}`))
    assert.ok((await get(id)).includes(`"metadata":${long(0, 'y')}`))
    const { versions } = (await history(id)).body
    assert.deepEqual(versions[1]!.fields['metadata'], JSON.parse(metadata))
  })

  test('[RCL-75] a tenant without room for more changes it to what is no longer, beside the row too', async () => {
    await setSettings(service, tenant, { quota_stored_bytes: 400_000 })
    await service.clock.jump(2_000)
    assert.equal((await patch(memory.id, metadata)).status, 200)
    assert.equal((await history(memory.id)).body.versions.length, 1)
    const other = metadata.replace('list', 'tsil')
    assert.ok((await patch(memory.id, other)).text.includes(other))
    assert.ok((await get(memory.id)).includes(`"metadata":${other}`))
    assert.deepEqual(await stored(), { texts: 2, unnamed: 0 })
    const [row] = await service.store.rows<{ metadata: string }>('select metadata from memories where id = ?', [
      memory.id,
    ])
    assert.equal(row!.metadata, '{}')
  })

  /** Does something when long metadata is about to be read for the first time. */
  function whenRead(act: () => Promise<unknown>): () => void {
    const { rows, readFor } = service.store
    let hasActed = false
    const acting =
      (read: typeof rows): typeof rows =>
      async (sql, values) => {
        if (/from long_metadata/.test(sql) && !hasActed) {
          hasActed = true
          await act()
        }
        return read(sql, values)
      }
    service.store.rows = acting(rows)
    service.store.readFor = (caller, options) => {
      const db = readFor(caller, options)
      return { ...db, rows: acting(db.rows) }
    }
    return () => Object.assign(service.store, { rows, readFor })
  }
  const eraseWhenRead = () =>
    whenRead(async () => {
      const erased = await service.call(`DELETE /v1/memories/${memory.id}?erase=true`, { token: tenant.admin })
      assert.equal(erased.status, 204)
    })

  test('[RCL-75] a response shows it as it was then, however often it is changed while the response is written', async (t) => {
    const changed = async () => {
      for (let n = 1; n <= 6; n++) assert.equal((await patch(memory.id, long(n, `${n}`))).status, 200)
    }
    t.after(whenRead(changed))
    const read = await calls.get(agent, memory.id)
    assert.equal(read.status, 200, read.text.slice(0, 300))
    assert.ok(read.text.includes(`"metadata":${metadata}`))
  })

  for (const path of ['GET /v1/memories', 'GET /v1/memories/export'] as const)
    test(`[RCL-75] a memory that is erased while ${path} reads it is left out`, async (t) => {
      const other = await calls.make(agent, { title: 'It stays' })
      t.after(eraseWhenRead())
      const read = await service.call(path, { token: agent.token })
      assert.equal(read.status, 200, read.text.slice(0, 300))
      assert.ok(read.text.includes(other.id) && !read.text.includes(memory.id))
    })

  test('[RCL-75] a memory that is erased while its history is read has none', async (t) => {
    t.after(eraseWhenRead())
    assertError(await history(memory.id), 'not_found')
  })

  test('[RCL-75] nothing of it is left when the memory is erased, of versions that are not kept neither', async () => {
    for (let n = 1; n <= 6; n++) await patch(memory.id, long(n, `${n}`))
    assert.ok((await stored()).unnamed > 0)
    const erased = await service.call(`DELETE /v1/memories/${memory.id}?erase=true`, { token: tenant.admin })
    assert.equal(erased.status, 204, erased.text)
    assert.deepEqual(await stored(), { texts: 0, unnamed: 0 })
  })

  test('[RCL-76] what a refused request brought is deleted', async () => {
    const external_id = 'taken'
    assert.equal((await post(metadata, { external_id })).status, 201)
    assertError(await post(long(1), { external_id }), 'conflict')
    assertError(await post(long(2), { scope: 'team' }), 'validation_failed')
    const stranger = await tenant.agent()
    const theirs = { token: stranger.token, headers, raw: `{"metadata":${long(3)}}` }
    assertError(await service.call(`PATCH /v1/memories/${memory.id}`, theirs), 'not_found')
    assert.deepEqual(await stored(), { texts: 2, unnamed: 0 })
  })

  test('[RCL-76] a tenant without room for it writes nothing of it', async () => {
    await setSettings(service, tenant, { quota_stored_bytes: 500_000 })
    await service.clock.jump(2_000)
    let parts = 0
    const { tx } = service.store
    service.store.tx = (work, options) => {
      parts++
      return tx(work, options)
    }
    assertError(await post(long(1)), 'business_rule_violation')
    service.store.tx = tx
    // The one that refuses the memory.
    assert.equal(parts, 1)
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
  })

  test('[RCL-76] what a node that died left unnamed is deleted after a minute, and what is named is not', async () => {
    const about = [tenant.id, 'hash.of-a-dead-node']
    const now = service.clock.now()
    await service.store.tx(async (tx) => {
      await tx.run('insert into unnamed_metadata (tenant_id, id, bytes, since) values (?, ?, 1, ?)', [...about, now])
      for (let part = 0; part < 6; part++)
        await tx.run('insert into long_metadata (tenant_id, id, part, text) values (?, ?, ?, ?)', [...about, part, 'x'])
    })
    await sweep()
    assert.deepEqual(await stored(), { texts: 2, unnamed: 1 })
    await service.clock.advance(61_000)
    await sweep()
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
    assert.ok((await get(memory.id)).includes(`"metadata":${metadata}`))
  })

  /** Calls `pause` after each transaction of the agent, with its number. */
  function afterEach(who: TestAgent, pause: (count: number) => Promise<void>): () => void {
    const { tx } = service.store
    let count = 0
    service.store.tx = async (work, options) => {
      const result = await tx(work, options)
      if (options?.caller?.id === who.id) await pause(++count)
      return result
    }
    return () => (service.store.tx = tx)
  }
  const minuteAfter = (transaction: number) => async (count: number) => {
    if (count !== transaction) return
    service.clock.moveNow(61_000)
    await sweep()
  }

  test('[RCL-76] a node that pauses for a minute while it writes one leaves nothing of it', async (t) => {
    t.after(afterEach(agent, minuteAfter(1)))
    assertError(await post(long(1)), 'service_unavailable')
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
  })

  test('[RCL-76] an import whose long metadata was deleted before it was named writes nothing', async (t) => {
    const lines = await calls.exported(agent)
    const stranger = await tenant.agent()
    // Both parts are written, and the group is not.
    t.after(afterEach(stranger, minuteAfter(2)))
    const imported = await service.call('POST /v1/memories/import', {
      token: stranger.token,
      headers: { 'content-type': 'application/x-ndjson' },
      raw: lines,
    })
    assertError(imported, 'service_unavailable')
    assert.equal(await calls.exported(stranger), '')
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
  })

  test('[RCL-76] a text that takes long to be written is not deleted while its parts come', async (t) => {
    const pause = async () => {
      service.clock.moveNow(40_000)
      await sweep()
    }
    t.after(afterEach(agent, pause))
    const made = await post(long(1))
    assert.equal(made.status, 201, made.text.slice(0, 300))
    assert.ok((await get(made.body.id)).includes(long(1)))
  })

  test('[RCL-76] a request that ends does not delete what it wrote and others have replaced since', async () => {
    for (let n = 1; n <= 6; n++) await patch(memory.id, long(n, `${n}`))
    const before = await stored()
    const [left] = await unnamedIds()
    discardUnlessNamed(service.store, { tenantId: tenant.id, id: agent.id }, { ...SHORT, metadata_id: left! })
    assert.deepEqual(await stored(), before)
  })

  const unnamedIds = async (): Promise<string[]> => {
    const sql = 'select id from unnamed_metadata where tenant_id = ? order by since'
    return (await service.store.rows<{ id: string }>(sql, [tenant.id])).map(({ id }) => id)
  }
  /** Writes texts that versions of a memory have left, the first the oldest. */
  const leave = (texts: number, bytes: number, first = 1) =>
    service.store.tx(async (tx) => {
      for (let i = first; i < first + texts; i++) {
        const about = [tenant.id, `hash.left-${i}`]
        await tx.run('insert into unnamed_metadata (tenant_id, id, memory_id, bytes, since) values (?, ?, ?, ?, ?)', [
          ...about,
          memory.id,
          bytes,
          service.clock.now() + i,
        ])
        await tx.run('insert into long_metadata (tenant_id, id, part, text) values (?, ?, 0, ?)', [...about, 'x'])
      }
    })

  test('[RCL-76] of what versions have left a tenant keeps 32 MiB, and a round of the sweep deletes all', async () => {
    await leave(3, 16_777_216)
    assert.equal((await post(long(1))).status, 201)
    assert.deepEqual(await unnamedIds(), ['hash.left-2', 'hash.left-3'])
    await leave(250, 1, 4)
    await service.clock.advance(62_000)
    await sweep()
    assert.deepEqual(await stored(), { texts: 2, unnamed: 0 })
  })

  test('[RCL-76] a deletion that another node is at work on too stays noted until all parts are gone', async () => {
    const about = [tenant.id, 'hash.of-two-sweeps']
    const now = service.clock.now()
    await service.store.tx(async (tx) => {
      await tx.run('insert into unnamed_metadata (tenant_id, id, bytes, since) values (?, ?, 1, ?)', [...about, now])
      await tx.run('insert into long_metadata (tenant_id, id, part, text) values (?, ?, 0, ?)', [...about, 'x'])
    })
    let count = 0
    // The other node has locked the parts, and then fails.
    const tx: typeof service.store.tx = async (work, options) =>
      options?.caller?.tenantId === tenant.id && ++count === 2
        ? (0 as Awaited<ReturnType<typeof work>>)
        : service.store.tx(work, options)
    await sweepMetadata({ ...service.store, tx }, now + 61_000)
    assert.deepEqual(await stored(), { texts: 2, unnamed: 1 })
    await sweepMetadata(service.store, now + 61_000)
    assert.deepEqual(await stored(), { texts: 1, unnamed: 0 })
  })

  test('[RCL-76] what the last version that named it leaves behind is deleted, and not while it is shown', async () => {
    // Only the last of the versions is kept that replaced more than a mebibyte together.
    for (let n = 1; n <= 6; n++) assert.equal((await patch(memory.id, long(n, `${n}`))).status, 200)
    const { texts, unnamed } = await stored()
    assert.equal(texts, 7)
    assert.ok(unnamed > 0 && unnamed < 6, `${unnamed} unnamed`)
    await service.clock.advance(61_000)
    await sweep()
    assert.deepEqual(await stored(), { texts: 7 - unnamed, unnamed: 0 })
    const kept = (await history(memory.id)).body.versions
    // Version 1 has no row, and each row dropped is a version less.
    assert.equal(kept.length, 6 - unnamed)
    assert.deepEqual(kept.at(-1)!.fields['metadata'], JSON.parse(long(unnamed + 1, `${unnamed + 1}`)))
  })

  test('[RCL-76] what its deletion has begun to take away is named by nobody', async () => {
    const about = { tenant_id: tenant.id, id: memory.id, metadata: '{}', metadata_id: 'hash.begun', metadata_bytes: 3 }
    await service.store.tx((tx) =>
      tx.run('insert into unnamed_metadata (tenant_id, id, bytes, since) values (?, ?, 1, 0)', [
        tenant.id,
        about.metadata_id,
      ]),
    )
    await assert.rejects(
      service.store.tx((tx) => placeMetadata(tx, about)),
      { code: 'service_unavailable' },
    )
  })
})
