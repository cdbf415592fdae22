// notify and listen: a wake-up only shortens a wait, so it may be lost; one that arrives reaches every listener.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import type { Store } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { layWireTo } from '../support/cut-wire.ts'
import { onBothEngines, postgres, POSTGRES_URL } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { emptyStore } from '../support/store.ts'

/** Listens on a channel. Resolves when a first message of `from` has come through, so that no later one is missed. */
async function ear(
  store: Store,
  channel: string,
  from: Store,
): Promise<{ heard: string[]; next(payload: string): Promise<void> }> {
  const heard: string[] = []
  const waiting = new Map<string, () => void>()
  store.listen(channel, (payload) => {
    if (!payload.startsWith('probe')) heard.push(payload)
    waiting.get(payload)?.()
  })
  const next = (payload: string): Promise<void> => new Promise((resolve) => waiting.set(payload, resolve))
  // The listening connection is opened in the background: probe until a probe arrives.
  let open = false
  void next('probe').then(() => (open = true))
  while (!open) {
    from.notify(channel, 'probe')
    await from.ping() // by the server's answer the message has arrived, if the connection listens
  }
  return { heard, next }
}

/** Two nodes on one PostgreSQL. */
async function twoNodes(t: TestContext): Promise<{ near: Store; far: Store }> {
  const { store, another, drop } = await emptyStore(postgres)
  t.after(drop)
  return { near: store, far: await another() }
}

onBothEngines((engine) => {
  test('[HTTP-28] close ends at once, also while the listening connection is still being opened', async (t) => {
    const { another, drop } = await emptyStore(engine)
    t.after(drop)
    for (let turns = 0; turns < 12; turns++) {
      const store = await another()
      store.listen('mail', () => {})
      for (let i = 0; i < turns; i++) await new Promise(setImmediate)
      await store.close()
    }
  })

  test('[STO-3] notify after close does nothing', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await store.close()
    assert.doesNotThrow(() => store.notify('mail', 'too late'))
  })
})

const skip = !POSTGRES_URL && 'PostgreSQL is missing'

test('[NODE-3] a listener hears what another node sends on its channel, and nothing else', { skip }, async (t) => {
  const { near, far } = await twoNodes(t)
  const [mail, other] = [await ear(far, 'mail', near), await ear(far, 'other', near)]
  const all = ['one', 'it\'s "two"', 'three', ''].map((payload) => mail.next(payload))
  const elsewhere = other.next('elsewhere')
  for (const payload of ['one', 'it\'s "two"', 'three', '']) near.notify('mail', payload)
  near.notify('other', 'elsewhere')
  await Promise.all([...all, elsewhere])
  assert.deepEqual(mail.heard.toSorted(), ['', 'it\'s "two"', 'one', 'three'])
  assert.deepEqual(other.heard, ['elsewhere'])
})

test('[NODE-3] two listeners of one channel both hear', { skip }, async (t) => {
  const { near, far } = await twoNodes(t)
  const [first, second] = [await ear(far, 'mail', near), await ear(far, 'mail', near)]
  const both = [first.next('x'), second.next('x')]
  near.notify('mail', 'x')
  await Promise.all(both)
})

test('[NODE-3] a wake-up is heard on every node, and once on the one that sent it', { skip }, async (t) => {
  const { near, far } = await twoNodes(t)
  const mailbox = { tenantId: 'ten_a', recipientId: 'agt_a' }
  const [here, there] = [makeWakeups(near), makeWakeups(far)]
  await ear(near, 'sensorium_mailbox', far)
  await ear(far, 'sensorium_mailbox', near)
  let woken = 0
  here.wait(mailbox, () => void woken++)
  const heard = new Promise<void>((resolve) => void there.wait(mailbox, () => resolve()))
  here.wake([mailbox.recipientId])
  await heard
  // What this node sent has come back to it by now: the server sends messages in one order.
  await ear(near, 'mail', far)
  assert.equal(woken, 1)
})

test('[FAIR-7] an event with many recipients wakes those on other nodes, and nobody else', { skip }, async (t) => {
  const { near, far } = await twoNodes(t)
  const [here, there] = [makeWakeups(near), makeWakeups(far)]
  await ear(far, 'sensorium_mailbox', near)
  let woken = 0
  there.wait({ tenantId: 'ten_b', recipientId: 'agt_of_another' }, () => void woken++)
  const recipients = Array.from({ length: 450 }, (_, i) => `agt_${i}`)
  const heard = recipients.map(
    (recipientId) =>
      new Promise<void>((resolve) => void there.wait({ tenantId: 'ten_a', recipientId }, () => resolve())),
  )
  here.wake(recipients)
  await Promise.all(heard)
  assert.equal(woken, 0)
})

/** A store whose connections go over a wire, with its ear on the channel `mail`. `tell` sends from another node. */
async function farEar(t: TestContext, clock: Clock) {
  const { store, env, drop } = await emptyStore(postgres)
  t.after(drop)
  const { wire, url } = await layWireTo(env['DATABASE_URL']!)
  t.after(() => wire.cut())
  const far = openPostgres({ url, clock })
  let hear = (): void => {}
  far.listen('mail', () => hear())
  /** Tells until something is heard. */
  async function untilHeard(): Promise<void> {
    const heard = new Promise<void>((resolve) => (hear = resolve))
    const again = setInterval(() => store.notify('mail', 'probe'), 50)
    await heard.finally(() => clearInterval(again))
  }
  await untilHeard()
  return { far, wire, untilHeard }
}

test('[HTTP-28] PostgreSQL: close ends although the connection that listens no longer responds', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
  timeout: 60_000,
}, async (t) => {
  const { far, wire } = await farEar(t, systemClock)
  wire.freeze()
  await far.close()
})

test('[SCL-12] PostgreSQL: a connection that listens and was dropped without a word is replaced', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
  timeout: 60_000,
}, async (t) => {
  const clock = fakeClock()
  const { far, wire, untilHeard } = await farEar(t, clock)
  t.after(() => far.close())
  wire.freeze()
  // The node asks, gets no response, and connects again after its usual delay.
  const moving = setInterval(() => void clock.advance(20_000), 100)
  await untilHeard().finally(() => clearInterval(moving))
})
