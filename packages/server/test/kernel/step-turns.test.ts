// Steps of long work: one in each turn of the event loop, and callers take turns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeStepTurns } from '../../src/kernel/step-turns.ts'

test('[SAFE-33] a turn has one step, however many callers wait', async () => {
  const turns = makeStepTurns()
  let done = 0
  for (let i = 0; i < 10; i++) void turns.take(`tenant ${i}`, 'a').then(() => done++)
  for (let i = 0; i < 30 && done < 10; i++) {
    const before = done
    await nextTurn()
    assert.ok(done - before <= 1, `${done - before} steps in one turn`)
  }
  assert.equal(done, 10)
})

test('[SAFE-33] steps that may be long are followed by turns without one: as many as the step took milliseconds', async () => {
  let time = 0
  const turns = makeStepTurns({ now: () => time, rest: 1 })
  const between: number[] = []
  let turn = 0
  let last = 0
  const work = async (): Promise<void> => {
    for (const ms of [0, 3, 8, 500, 0.5, 0]) {
      await turns.take('tenant', 'agent')
      between.push(turn - last - 1)
      last = turn
      time += ms
    }
  }
  const done = work()
  while (between.length < 6) {
    await nextTurn()
    turn++
  }
  await done
  assert.deepEqual(between.slice(1), [0, 3, 8, 32, 0])
})

test('[SAFE-33] tenants take turns, and senders inside a tenant', async () => {
  const turns = makeStepTurns()
  const order: string[] = []
  const steps = async (tenant: string, sender: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await turns.take(tenant, sender)
      order.push(`${tenant} ${sender}`)
    }
  }
  const loud = Array.from({ length: 50 }, () => steps('loud', 'a', 4))
  await Promise.all([...loud, steps('loud', 'b', 4), steps('quiet', 'c', 4)])
  assert.ok(order.lastIndexOf('quiet c') < 10, `the other tenant was done after ${order.lastIndexOf('quiet c')} steps`)
  assert.ok(order.lastIndexOf('loud b') < 20, `the other sender was done after ${order.lastIndexOf('loud b')} steps`)
})

test('[SAFE-67] between steps that compute for long the thread gives up the processor', async () => {
  const turns = makeStepTurns()
  const steps = 50
  const switches = (): number => process.resourceUsage().voluntaryContextSwitches
  let given = 0
  const work = async (): Promise<void> => {
    for (let i = 0; i < steps; i++) {
      await turns.take('tenant', 'agent')
      for (const until = performance.now() + 0.5; performance.now() < until; );
      given -= switches()
      // The next step is taken in a turn that begins with giving up the processor.
      await turns.take('tenant', 'agent')
      given += switches()
    }
  }
  await work()
  assert.ok(given >= steps, `given up ${given} times in ${steps} steps`)
})
