// A bridge between an AMQP 1.0 broker and agents, in both directions. A connector takes orders out of a queue; an agent
// decides which of them are worth a look; a worker puts the decisions into another queue of the same broker.
//
// Nothing is lost on the way. The connector accepts a message after its event is on disk, and the worker acknowledges a
// delivery after the broker has accepted the message. A message may arrive twice, so messages in the second queue have
// the event's id as the message id.
//
// Run it against a service that has an OPERATOR_TOKEN and a RabbitMQ with the plugin rabbitmq_amqp1_0:
//   node examples/amqp-bridge/amqp-bridge.ts \
//     http://localhost:8080 ak_live_… "$OPERATOR_TOKEN" amqp://guest:guest@localhost
import { createClient, type Client, type Worker } from '@sensorium/client'
import { openQueue } from './queue.ts'

interface Order {
  entity: 'order'
  action: 'placed'
  id: string
  total: number
}

interface Decision {
  order: string
  check: 'by hand' | 'none'
}

/** The orders that the shop system of this example puts into the queue; the third is a retry of the first. */
const ORDERS: Order[] = [
  { entity: 'order', action: 'placed', id: 'o-1', total: 40 },
  { entity: 'order', action: 'placed', id: 'o-2', total: 9_000 },
  { entity: 'order', action: 'placed', id: 'o-1', total: 40 },
]

export interface BridgeOptions {
  url: string
  adminKey: string
  operatorToken: string
  /** The broker: `amqp://user:password@host:port`. */
  broker: string
  tenant?: string
  /** The names of the queues to use. */
  queues?: { orders: string; decisions: string }
}

async function register(url: string, admin: Client, name: string, scopes: Scope[]): Promise<Client> {
  const { id } = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
  return createClient({ url, apiKey: (await admin.keys.mint(id, { scopes })).key })
}
type Scope = Parameters<Client['keys']['mint']>[1]['scopes'][number]

/** Subscribes to a pattern and starts a worker for its events. */
async function listen<D>(client: Client, pattern: string, handle: Parameters<typeof client.worker<D>>[0]['handle']) {
  await client.interests.create((await client.agent())!.id, {
    event_type: pattern,
    priority: 0,
    enrichment_depth: 'none',
  })
  return client.worker<D>({ handle })
}

/** Resolves to the messages that arrived in the second queue, by order. */
export async function amqpBridge(options: BridgeOptions): Promise<{ id: unknown; decision: Decision }[]> {
  const { url, adminKey, operatorToken, broker, tenant = 'default' } = options
  const queues = options.queues ?? { orders: 'orders', decisions: 'decisions' }
  const admin = createClient({ url, apiKey: adminKey })
  const operator = createClient({ url, token: operatorToken })

  // The shop system knows nothing of agents: it puts JSON into a queue.
  const shop = await openQueue(broker, queues.orders)
  for (const order of ORDERS) await shop.send({ id: undefined, body: order })

  const judge = await register(url, admin, 'Judge', ['send', 'receive', 'interests:write'])
  const outbound = await register(url, admin, 'Outbound', ['receive', 'interests:write'])
  const decisions = await openQueue(broker, queues.decisions)
  const workers: Worker[] = [
    await listen<Order>(judge, 'com.shop.order.placed', async ({ event, client }) => {
      const check: Decision['check'] = event.data.total > 1_000 ? 'by hand' : 'none'
      // The same order produces the same id: handled twice, the decision is published once.
      const data: Decision = { order: event.data.id, check }
      await client.publish({ type: 'com.shop.decision.made', id: `decision-of-${event.id}`, data })
    }),
    await listen<Decision>(outbound, 'com.shop.decision.made', async ({ event }) => {
      // Throws unless the broker accepted the message. The delivery is then given back, and comes again.
      await decisions.send({ id: event.id, body: event.data })
    }),
  ]

  const { connector } = await operator.call('createConnector', {
    body: { tenant, source: 'shop', url: broker, address: `/amq/queue/${queues.orders}` },
  })
  try {
    const received = await decisions.receive(2)
    return received
      .map(({ id, body }) => ({ id, decision: body as Decision }))
      .sort((a, b) => a.decision.order.localeCompare(b.decision.order))
  } finally {
    await operator.call('deleteConnector', { params: { id: connector.id } })
    await Promise.all(workers.map((worker) => worker.stop()))
    await Promise.all([shop.close(), decisions.close()])
  }
}

if (import.meta.main) {
  const [url, adminKey, operatorToken, broker, tenant] = process.argv.slice(2)
  if (!url || !adminKey || !operatorToken || !broker)
    throw new Error(
      'Usage: amqp-bridge.ts <address of the service> <org-admin key> <operator token> <broker> [<tenant>]',
    )
  console.table(await amqpBridge({ url, adminKey, operatorToken, broker, ...(tenant ? { tenant } : {}) }))
}
