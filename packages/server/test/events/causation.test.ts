// What it takes to measure the chains of causes above the events of a group.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasManyCauses, NONE_KNOWN, readAhead, tooDeepAmong } from '../../src/events/causation.ts'
import { prepareEvent, type PreparedEvent } from '../../src/events/envelope.ts'
import { insertEvents, readChains } from '../../src/events/sql.ts'
import { notFound, type Failure } from '../../src/kernel/failure.ts'
import type { Reads, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { event } from './tools.ts'

const prepared = (id: string, causationid: string): PreparedEvent => {
  const envelope = event({ id, causationid })
  return prepareEvent(envelope, JSON.stringify(envelope))
}

/** Notes how many rows each statement returns. */
function counted(db: Reads): Reads & { read: number[] } {
  const read: number[] = []
  return {
    dialect: db.dialect,
    read,
    async rows<Row>(sql: string, values?: readonly Value[]) {
      const rows = await db.rows<Row>(sql, values)
      read.push(rows.length)
      return rows
    },
  }
}

onBothEngines((engine) => {
  describe('chains of causes', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)

    /** Stores events, each with the cause that it names. */
    async function store(links: readonly (readonly [string, string | null])[]): Promise<void> {
      await service.store.tx((tx) =>
        insertEvents(
          tx,
          links.map(([id, cause], place) => ({
            tenant_id: tenant.id,
            id,
            type: 't',
            source: '/test',
            subject: null,
            sender_id: 'agt_x',
            envelope: '{}',
            causation_id: cause,
            received_at: 1,
            place,
          })),
        ),
      )
      // As a server does by itself after so many rows. Without statistics it reads all of a tenant for each link.
      if (service.store.isShared && links.length > 1_000) await service.store.runAlone('analyze events')
    }
    const chain = (name: string, length: number) =>
      Array.from({ length }, (_, i) => [`${name}-${i}`, i === 0 ? null : `${name}-${i - 1}`] as const)
    const groupOf = (...events: PreparedEvent[]) => [
      { submission: { tenantId: tenant.id, events }, routed: { events: events.map(() => ({ refused: null })) } },
    ]

    test('[LOOP-2] ancestors that a hundred causes share are read once', async () => {
      const starts = Array.from({ length: 100 }, (_, i) => [`start-${i}`, 'shared-30'] as const)
      await store([...chain('shared', 31), ...starts])
      const ids = starts.map(([id]) => id)
      assert.equal((await readChains(service.store, tenant.id, ids, 32)).length, 131)
      // A circle ends too, after as many events as are allowed.
      await store([
        ['circle-a', 'circle-b'],
        ['circle-b', 'circle-a'],
      ])
      assert.equal((await readChains(service.store, tenant.id, ['circle-a'], 32)).length, 33)
    })

    test('[LOOP-2] the chains of a large batch are read before its transaction, 20 in a turn', async () => {
      const chains = Array.from({ length: 50 }, (_, i) => chain(`long-${i}`, 32 + (i % 2)))
      await store(chains.flat())
      const group = groupOf(...chains.map((links, i) => prepared(`leaf-${i}`, links.at(-1)![0])))
      assert.ok(hasManyCauses(group))
      const ahead = counted(service.store)
      let turns = 0
      let ticking = setImmediate(function next() {
        turns++
        ticking = setImmediate(next)
      })
      const known = await readAhead(ahead, group)
      clearImmediate(ticking)
      assert.deepEqual(ahead.read, [20 * 32 + 10, 20 * 32 + 10, 10 * 32 + 5])
      assert.ok(turns >= 2, `${turns} turns`)
      await service.store.tx(async (tx) => {
        const inside = counted(tx)
        const deep = await tooDeepAmong({ ...tx, rows: inside.rows }, group, known)
        assert.deepEqual(
          [...deep].map(({ id }) => id),
          group[0]!.submission.events.filter((_, i) => i % 2).map(({ id }) => id),
        )
        assert.deepEqual(inside.read, [0], 'it asks only whether those that are too deep are duplicates')
      })
    })

    test('[LOOP-1] [LOOP-2] what was stored since the chains were read ahead counts', async () => {
      const links = chain('gap', 40)
      const missing = links.splice(20, 1)
      await store(links)
      const group = groupOf(prepared('after-gap', 'gap-39'), prepared('below-gap', 'gap-30'))
      assert.equal(hasManyCauses(group), false)
      const known = await readAhead(service.store, group)
      const deepNow = (ahead: typeof known) =>
        service.store.tx(async (tx) => [...(await tooDeepAmong(tx, group, ahead))].map(({ id }) => id))
      assert.deepEqual(await deepNow(known), [])
      await store(missing)
      assert.deepEqual(await deepNow(known), ['after-gap'])
      assert.deepEqual(await deepNow(NONE_KNOWN), ['after-gap'])
    })

    test('[LOOP-1] an event that is refused lengthens no chain', async () => {
      await store(chain('whole', 32))
      const events = [prepared('first', 'whole-31'), prepared('second', 'first')]
      const deepIf = async (refused: Failure | null): Promise<string[]> => {
        const group = [
          { submission: { tenantId: tenant.id, events }, routed: { events: [{ refused }, { refused: null }] } },
        ]
        return Array.from(await tooDeepAmong(service.store, group, NONE_KNOWN), ({ id }) => id)
      }
      assert.deepEqual(await deepIf(null), ['second'])
      assert.deepEqual(await deepIf(notFound('agent', 'agt_nobody')), [])
    })

    test('[LOOP-1] [PUB-2] a batch of a hundred causes is answered event by event', async () => {
      const sender = await tenant.agent()
      await store(Array.from({ length: 100 }, (_, i) => chain(`mixed-${i}`, i < 50 ? 32 : 33)).flat())
      const batch = Array.from({ length: 100 }, (_, i) =>
        event({ id: `mixed-leaf-${i}`, causationid: `mixed-${i}-${i < 50 ? 31 : 32}` }),
      )
      const send = () =>
        service.call('POST /v1/events', {
          token: sender.token,
          raw: JSON.stringify(batch),
          headers: { 'content-type': 'application/cloudevents-batch+json' },
        })
      const statuses = async () =>
        (await send()).body.results.map(
          (r: { status?: string; error?: { details: { rule: string } } }) => r.status ?? r.error!.details.rule,
        )
      const tooDeep = Array(50).fill('causation_too_deep')
      assert.deepEqual(await statuses(), [...Array(50).fill('accepted'), ...tooDeep])
      assert.deepEqual(await statuses(), [...Array(50).fill('duplicate'), ...tooDeep])
    })
  })
})
