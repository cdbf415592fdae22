// Who does something while things break. Each tells the ledger what it was told, and goes on whatever happens.
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCaller, type Caller, type Urls } from './client.ts'
import type { FarEnds } from './far-ends.ts'
import type { Handed, Ledger } from './ledger.ts'
import { LEASE_S } from './site.ts'

/** Of what is handed out, so many in a hundred are dead-lettered, and so many are left to their lease. */
const DEAD_LETTERED = 5
const LEFT = 15
/** So many in a hundred are not sent again when no response came: what became of them shows at the end. */
const SENT_ONCE = 20

const chance = (percent: number): boolean => Math.random() * 100 < percent

export interface Actor extends Caller {
  id: string
}

export async function makeActor(admin: Caller, urls: Urls, name: string): Promise<Actor> {
  const shape = { name, delivery_mode: 'poll', client_type: 'other' }
  const { body: agent } = await admin.untilAnswered<{ id: string }>([201], 'POST', '/v1/agents', shape)
  const scopes = ['send', 'receive', 'interests:write', 'memory:read', 'memory:write']
  const { body } = await admin.untilAnswered<{ key: string }>([201], 'POST', `/v1/agents/${agent.id}/keys`, { scopes })
  return { ...makeCaller(urls, body.key), id: agent.id }
}

/** Makes it one that is pushed to. */
export async function makePushed(admin: Caller, agent: Actor, farEnds: FarEnds, ledger: Ledger): Promise<void> {
  farEnds.onPush(agent.id, (delivery) => ledger.pushed(agent.id, delivery))
  const body = { delivery_mode: 'push', delivery_endpoint: `${farEnds.url}/push/${agent.id}` }
  await admin.untilAnswered([200], 'PATCH', `/v1/agents/${agent.id}`, body)
}

/** True when the event was accepted. */
export async function publish({ call }: Actor, ledger: Ledger, n: number, isOver: () => boolean): Promise<boolean> {
  const id = `e-${n}`
  ledger.sent(id)
  const event = { specversion: '1.0', type: 'fault.x', source: '/faults', id, data: { n } }
  const isSentOnce = chance(SENT_ONCE)
  do {
    const reply = await call('POST', '/v1/events', event).catch(() => null)
    // 200: it was accepted by a request before this one, whose response was lost.
    if (reply?.status === 202 || reply?.status === 200) {
      ledger.accepted(id)
      return true
    }
    await sleep(20)
  } while (!isSentOnce && !isOver())
  return false
}

export async function receive({ id, call }: Actor, ledger: Ledger): Promise<void> {
  const asked = performance.now()
  const reply = await call<{ deliveries: Handed[] }>('GET', '/v1/delivery/poll?limit=5&wait=1').catch(() => null)
  if (reply?.status !== 200) return void (await sleep(20))
  ledger.handed(id, reply.body.deliveries, asked, performance.now())
  const taken = reply.body.deliveries.filter(() => !chance(LEFT)).map((delivery) => delivery.id)
  if (taken.length === 0) return
  const isDead = chance(DEAD_LETTERED)
  const settled = await (isDead
    ? call<{ nacked: number }>('POST', '/v1/delivery/nack', { delivery_ids: taken, dead_letter: true })
    : call<{ acknowledged: number }>('POST', '/v1/delivery/ack', { delivery_ids: taken })
  ).catch(() => null)
  if (settled?.status !== 200) return
  // Fewer: a lease was over, and another poll has one of them.
  const [count] = Object.values(settled.body)
  if (count === taken.length) ledger.settled(taken, isDead ? 'dead_lettered' : 'acknowledged', performance.now())
}

export async function remember({ call }: Actor, ledger: Ledger, n: number): Promise<void> {
  const content = `What happened as number ${n} of the faults.`
  const memory = { type: 'episodic', scope: 'agent', title: `Number ${n}`, content }
  const reply = await call<{ id: string }>('POST', '/v1/memories', memory).catch(() => null)
  if (reply?.status === 201) ledger.remembered(reply.body.id, content)
}

/** Resolves when all of an agent's deliveries have been pushed, or are dead letters. */
export async function untilPushed(admin: Caller, { id }: Actor): Promise<void> {
  for (;;) {
    const { body } = await admin.untilAnswered<{ pending: number; leased: number }>(
      [200],
      'GET',
      `/v1/agents/${id}/queue`,
    )
    if (body.pending + body.leased === 0) return
    await sleep(500)
  }
}

/** Acknowledges all that is left. A poll that waited longer than a lease and found nothing means that nothing is. */
export async function drain({ id, untilAnswered }: Actor, ledger: Ledger): Promise<void> {
  for (;;) {
    const asked = performance.now()
    const path = `/v1/delivery/poll?limit=100&wait=${2 * LEASE_S}`
    const { body } = await untilAnswered<{ deliveries: Handed[] }>([200], 'GET', path)
    if (body.deliveries.length === 0) return
    ledger.handed(id, body.deliveries, asked, performance.now())
    const delivery_ids = body.deliveries.map((delivery) => delivery.id)
    await untilAnswered([200], 'POST', '/v1/delivery/ack', { delivery_ids })
  }
}
