// Long metadata that no memory and no version names: how it comes about, and is deleted.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { discardUnlessNamed, sweepMetadata } from '../../src/memory/discard-metadata.ts'
import { placeMetadata } from '../../src/memory/long-metadata.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import type { TestAgent, TestTenant } from '../support/service.ts'
import { setSettings } from '../tenants/tools.ts'
import { long, longMetadataSuite } from './long-metadata-suite.ts'

const SHORT = { metadata: '{}', metadata_bytes: 3 }

onBothEngines((engine) => {
  const suite = longMetadataSuite(engine)
  const { service, calls, headers, metadata, post, patch, get, history, stored, sweep, afterEach } = suite
  let tenant: TestTenant
  let agent: TestAgent
  let memory: Memory
  beforeEach(async () => {
    ;({ tenant, agent, memory } = await suite.fresh())
  })

  test('[RCL-76] the room that a text needs while it is written ahead is not taken twice', async () => {
    await setSettings(service, tenant, { quota_stored_bytes: 900_000 })
    await service.clock.jump(2_000)
    assert.equal((await post(long(1))).status, 201)
    assert.equal((await post(long(2))).status, 201)
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

  test('[RCL-76] a text whose deletion has begun while it is written is not written any further', async (t) => {
    const begin = (count: number) =>
      count === 1
        ? service.store.tx(async (tx) => {
            await tx.run('update unnamed_metadata set since = 0 where tenant_id = ?', [tenant.id])
          })
        : Promise.resolve()
    t.after(afterEach(agent, begin))
    assertError(await post(long(1)), 'service_unavailable')
    await sweep()
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
