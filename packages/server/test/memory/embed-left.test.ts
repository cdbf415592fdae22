// What was left to embed: nobody's short texts wait for long ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeEmbedLeft } from '../../src/memory/embed-left.ts'
import { makeEmbedding } from '../../src/memory/embed-memories.ts'
import { makeEmbeddingClaims } from '../../src/memory/embedding-claims.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { farModel } from './far-model.ts'
import { memoryCalls } from './tools.ts'

const LONG = 'A word. '.repeat(130)
const SHORT = 40
const LONG_ONES = 5

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[RCL-61] short texts are embedded while a long one of another tenant is, and long ones by turns', async () => {
    const { make } = memoryCalls(service)
    const made: { tenantId: string; isLong: boolean }[] = []
    for (const isLong of [true, true, false]) {
      const tenant = await service.tenant()
      const agent = await tenant.agent()
      for (let i = 0; i < (isLong ? LONG_ONES : SHORT); i++)
        await make(agent, { title: `${tenant.id} ${i}`, content: isLong ? LONG : 'short' })
      made.push({ tenantId: tenant.id, isLong })
    }
    await service.app.memory.embedding.idle()

    const longTexts: string[] = []
    let most = 0
    let atOnce = 0
    let goOn = Promise.withResolvers<void>()
    const embedding = makeEmbedding({
      store: service.store,
      index: service.app.memory.index,
      embedder: farModel('another', async (texts) => {
        if (texts[0]!.length > 1_000) {
          longTexts.push(...texts)
          most = Math.max(most, ++atOnce)
          await goOn.promise
          atOnce--
        }
      }),
      clock: service.clock,
      log: makeLogger('silent'),
    })
    const left = async ({ tenantId }: { tenantId: string }): Promise<number> => {
      const rows = await service.store.rows(
        "select memory_id from memory_recall where tenant_id = ? and embedded <> 'another'",
        [tenantId],
      )
      return rows.length
    }

    const ended = embedding.runOnce()
    await turnsUntil(async () => (await left(made[2]!)) === 0)
    assert.equal(longTexts.length, 1, 'one long text is still being embedded')
    goOn.resolve()
    goOn = Promise.withResolvers()
    goOn.resolve()
    assert.equal(await ended, SHORT + 2 * LONG_ONES)
    assert.equal(most, 1)
    const owners = longTexts.map((text) => text.split(' ')[0])
    assert.ok(new Set(owners.slice(0, 4)).size === 2, 'the two tenants take turns')
    await embedding.close()
  })

  test('[RCL-61] a tenant’s own short text does not wait for all of its long ones', async () => {
    const { make } = memoryCalls(service)
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    for (let i = 0; i < 12; i++) await make(agent, { title: `Long ${i}`, content: LONG })
    const brief = await make(agent, { title: 'Brief', content: 'short' })
    await service.app.memory.embedding.idle()
    const claims = makeEmbeddingClaims({
      store: service.store,
      model: 'a third one',
      batch: 4,
      clock: service.clock,
      log: makeLogger('silent'),
    })
    let renewed = 0
    const embedded: string[] = []
    const left = makeEmbedLeft({
      claims: {
        ...claims,
        claimLeftover: async () => (await claims.claimLeftover()).filter(({ tenantId }) => tenantId === tenant.id),
        keepRenewing(texts) {
          renewed++
          return claims.keepRenewing(texts)
        },
      },
      async embed(texts) {
        embedded.push(...texts.map(({ memoryId }) => memoryId))
        await claims.release(texts, 'refused')
        return texts.length
      },
      // Each look has the time for one long text.
      clock: { ...service.clock, elapsed: () => (ticks += 600) },
      isClosed: () => false,
      isQuiet: () => true,
    })
    let ticks = 0
    for (let run = 0; run < 12 && !embedded.includes(brief.id); run++) await left(1)
    assert.ok(embedded.indexOf(brief.id) >= 0, 'it is embedded')
    assert.ok(embedded.length < 12, `after ${embedded.length - 1} long ones`)
    assert.ok(renewed > 0, 'claims are renewed while a long text is embedded')
    claims.close()
  })
})
