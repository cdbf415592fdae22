// Moves orders from a queue of a real RabbitMQ to an agent, and its decisions into another queue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBroker, startRabbit } from '../../packages/server/test/support/rabbitmq.ts'
import { ADMIN_KEY, OPERATOR_TOKEN, startService } from '../start-service.ts'
import { openQueue } from './queue.ts'

test('[DOC-15] messages of a queue reach an agent, and its decisions reach another queue, once', {
  skip: noBroker,
}, async (t) => {
  const { amqpBridge } = await import('./amqp-bridge.ts')
  const rabbit = await startRabbit()
  t.after(() => rabbit.stop())
  const url = await startService(t)
  const found = await amqpBridge({ url, adminKey: ADMIN_KEY, operatorToken: OPERATOR_TOKEN, broker: rabbit.url })
  assert.deepEqual(found, [
    { id: 'decision-of-shop:o-1', decision: { order: 'o-1', check: 'none' } },
    { id: 'decision-of-shop:o-2', decision: { order: 'o-2', check: 'by hand' } },
  ])
  // The order that was sent twice was decided once: both queues contain nothing but this message.
  for (const name of ['orders', 'decisions']) {
    const queue = await openQueue(rabbit.url, name)
    await queue.send({ id: 'last', body: { last: true } })
    assert.deepEqual(await queue.receive(1), [{ id: 'last', body: { last: true } }])
    await queue.close()
  }
})
