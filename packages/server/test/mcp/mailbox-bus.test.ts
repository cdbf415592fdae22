// Notifications of MCP subscriptions whose clients read slowly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeWakeups, type Wakeups } from '../../src/delivery/wake.ts'
import { makeMailboxBus } from '../../src/mcp/mailbox-bus.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'

onBothEngines((engine) => {
  test('[MCP-44] notifications that a client has not taken become one', async () => {
    const service = await startService(engine)
    const wakeups = makeWakeups(service.store)
    const bus = makeMailboxBus(wakeups)
    const unread: (() => void)[] = []
    let sent = 0
    const taken = () => new Promise<void>((resolve) => void unread.push(resolve))
    const unsubscribe = bus.runAs({ recipientId: 'agt_1', taken }, () => bus.subscribe(() => sent++))
    const arrive = (count: number) => {
      for (let i = 0; i < count; i++) wakeups.wake(['agt_1'])
    }
    const take = async () => {
      unread.shift()!()
      await nextTurn()
    }

    arrive(60)
    assert.equal(sent, 0, 'the confirmation of the subscription is not taken yet')
    await take()
    assert.equal(sent, 1)
    arrive(60)
    assert.equal(sent, 1)
    await take()
    assert.equal(sent, 2)
    await take()
    assert.deepEqual([sent, unread.length], [2, 0], 'nothing arrived meanwhile')
    arrive(1)
    assert.equal(sent, 3, 'a client that reads is told at once')
    wakeups.wake(['agt_2'])
    await take()
    assert.equal(sent, 3)
    unsubscribe()
    arrive(1)
    assert.equal(sent, 3)
    await service.stop()
  })
})

test('[MCP-4] a notice of another node that names nobody, because it would be too many, reaches every subscription', async () => {
  let hear: Parameters<Wakeups['watch']>[0] = () => {}
  const bus = makeMailboxBus({ watch: (heard) => void (hear = heard) } as Wakeups)
  const sent: string[] = []
  for (const recipientId of ['agt_1', 'agt_2'])
    bus.runAs({ recipientId, taken: async () => {} }, () => bus.subscribe(() => void sent.push(recipientId)))
  await nextTurn()
  hear(null, false)
  assert.deepEqual(sent, ['agt_1', 'agt_2'])
})

test('[MCP-4] a subscription that ends, also twice, takes no other of the agent with it', async () => {
  let hear: Parameters<Wakeups['watch']>[0] = () => {}
  const bus = makeMailboxBus({ watch: (heard) => void (hear = heard) } as Wakeups)
  let sent: string[] = []
  const open = (name: string) =>
    bus.runAs({ recipientId: 'agt_1', taken: async () => {} }, () => bus.subscribe(() => void sent.push(name)))
  const [first, second] = [open('first'), open('second')]
  first()
  await nextTurn()
  hear(['agt_1'], false)
  assert.deepEqual(sent, ['second'])
  second()
  open('third')
  second()
  await nextTurn()
  sent = []
  hear(['agt_1'], false)
  assert.deepEqual(sent, ['third'])
})
