// Metadata that is too long for the row of its memory: how it is stored, shown and changed.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { StoreUnavailable, type Db } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import type { TestAgent, TestTenant } from '../support/service.ts'
import { setSettings } from '../tenants/tools.ts'
import { long, longMetadataSuite } from './long-metadata-suite.ts'

onBothEngines((engine) => {
  const suite = longMetadataSuite(engine)
  const { service, calls, headers, metadata, post, patch, put, restore, get, history, stored, sweep, afterEach } = suite
  let tenant: TestTenant
  let agent: TestAgent
  let memory: Memory
  beforeEach(async () => {
    ;({ tenant, agent, memory } = await suite.fresh())
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

  test('[RCL-75] a version that is no longer kept takes nothing from the memory or from another version', async () => {
    // The fourth replaced text is one too many: version 2 goes, which replaced the text that the memory has again.
    for (let n = 1; n <= 3; n++) await patch(memory.id, long(n, `${n}`))
    assert.equal((await restore(memory.id, 1)).status, 200)
    // The same text of another memory was replaced a second time, by a version that is kept.
    const { id } = (await post(long(1), { title: 'Another' })).body
    await patch(id, '{"short":1}')
    await restore(id, 1)
    for (let n = 1; n <= 3; n++) await patch(id, long(n, `${n}`))
    await service.clock.advance(61_000)
    await sweep()
    assert.ok((await get(memory.id)).includes(`"metadata":${metadata}`))
    const oldest = (await history(id)).body.versions.at(-1)!
    assert.deepEqual([oldest.version, oldest.fields['metadata']], [3, JSON.parse(long(1))])
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

  const erase = () => service.call(`DELETE /v1/memories/${memory.id}?erase=true`, { token: tenant.admin })

  test('[RCL-75] nothing of it is left when the memory is erased, of versions that are not kept neither', async () => {
    for (let n = 1; n <= 6; n++) await patch(memory.id, long(n, `${n}`))
    assert.ok((await stored()).unnamed > 0)
    const erased = await erase()
    assert.equal(erased.status, 204, erased.text)
    assert.deepEqual(await stored(), { texts: 0, unnamed: 0 })
  })

  test('[RCL-76] an erasure deletes four parts in a transaction at most', async (t) => {
    for (let n = 1; n <= 3; n++) assert.equal((await patch(memory.id, long(n))).status, 200)
    const { tx } = service.store
    t.after(() => (service.store.tx = tx))
    const deleted: number[] = []
    service.store.tx = (work, options) =>
      tx(async (db) => {
        const run: Db['run'] = async (sql, values) => {
          const rows = await db.run(sql, values)
          if (/delete from long_metadata/.test(sql)) deleted.push(rows)
          return rows
        }
        return work({ ...db, run })
      }, options)
    assert.equal((await erase()).status, 204)
    assert.ok(deleted.length >= 4 && Math.max(...deleted) <= 4, String(deleted))
    assert.deepEqual(await stored(), { texts: 0, unnamed: 0 })
  })

  test('[RCL-76] what an erasure did not come to delete is deleted by the next sweep', async (t) => {
    const { rows } = service.store
    t.after(() => (service.store.rows = rows))
    await patch(memory.id, long(1))
    service.store.rows = async (sql, values) => {
      if (/from unnamed_metadata .* since = 0/.test(sql)) throw new StoreUnavailable('the store is away')
      return rows(sql, values)
    }
    assert.equal((await erase()).status, 204)
    assert.deepEqual(await stored(), { texts: 2, unnamed: 2 })
    service.store.rows = rows
    await sweep()
    assert.deepEqual(await stored(), { texts: 0, unnamed: 0 })
  })
})
