// Reading whether a key stands, while keys change.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { makeIdentify } from '../../src/auth/identify.ts'
import type { Reads } from '../../src/store/db.ts'
import { makeAnnouncements } from '../../src/store/announce.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const other = tenantForSuite(service)

  /** Identifies callers with reads that end when the test says so. */
  function identifyHeld(t: TestContext) {
    const { store, secrets, clock } = service
    const ends: (() => void)[] = []
    let isHeld = true
    const outsideTx: Reads = {
      dialect: store.dialect,
      async rows(sql, values) {
        const rows = await store.outsideTx.rows(sql, values)
        if (isHeld) await new Promise<void>((resolve) => ends.push(resolve))
        return rows as never
      },
    }
    const announcements = makeAnnouncements(store, clock.now)
    const identify = makeIdentify({ ...store, outsideTx }, announcements, secrets.tokenKey, clock)
    t.after(() => {
      isHeld = false
      for (const end of ends) end()
    })
    return {
      identify,
      untilReading: (reads: number) => turnsUntil(() => ends.length >= reads),
      endRead: () => ends.at(-1)!(),
      reads: () => ends.length,
      changeKeys: (tenantId: string) => store.tx(async (tx) => announcements.announce(tx, 'keys', tenantId)),
    }
  }

  test('[FAIR-5] keys that change in another tenant do not make a caller be read again', async (t) => {
    const { identify, untilReading, endRead, reads, changeKeys } = identifyHeld(t)
    const identified = identify(agent.token)
    await untilReading(1)
    await changeKeys(other.id)
    endRead()
    let isOver = false
    void identified.then(() => (isOver = true))
    await turnsUntil(() => isOver || reads() > 1)
    assert.equal(reads(), 1)
    assert.equal((await identified)?.id, agent.id)
    assert.equal(identify.cached(agent.token)?.id, agent.id)
  })

  test('[AUTH-13] what was read while keys of the tenant changed is read again', async (t) => {
    const { identify, untilReading, endRead, changeKeys } = identifyHeld(t)
    const identified = identify(agent.token)
    await untilReading(1)
    await changeKeys(tenant.id)
    endRead()
    await untilReading(2)
    endRead()
    assert.equal((await identified)?.id, agent.id)
  })
})
