// A durable queue of an AMQP 1.0 broker for JSON messages: sending with confirmation, and receiving.
import rhea, { type Delivery, type EventContext, type Message } from 'rhea'

export interface QueueMessage {
  id: unknown
  body: unknown
}

export interface Queue {
  /** Resolves when the broker has accepted the message. */
  send(message: QueueMessage): Promise<void>
  /** Resolves to the next `count` messages once all have arrived; each is accepted. */
  receive(count: number): Promise<QueueMessage[]>
  close(): Promise<void>
}

const asMessage = ({ id, body }: QueueMessage): Message => ({
  durable: true,
  content_type: 'application/json',
  body: rhea.message.data_section(Buffer.from(JSON.stringify(body))),
  ...(typeof id === 'string' ? { message_id: id } : {}),
})

/** Opens a queue, which the broker creates if it does not exist. */
export async function openQueue(broker: string, name: string): Promise<Queue> {
  const { hostname, port, username, password } = new URL(broker)
  const container = rhea.create_container()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  for (const event of ['connection_error', 'session_error', 'sender_error', 'receiver_error', 'disconnected', 'error'])
    container.on(event, (context: { error?: unknown }) => failed.reject(new Error(`${event}: ${context?.error ?? ''}`)))

  const connection = container.connect({
    host: hostname,
    port: Number(port || 5672),
    username: decodeURIComponent(username || 'guest'),
    password: decodeURIComponent(password || 'guest'),
    reconnect: false,
  })
  const sender = connection.open_sender({ target: { address: `/queue/${name}`, durable: 2 } })
  const sendable = new Promise<void>((resolve) => container.once('sendable', () => resolve()))
  await Promise.race([sendable, failed.promise])

  /** Messages that the broker has neither accepted nor refused yet. */
  const open = new Map<Delivery, PromiseWithResolvers<void>>()
  for (const outcome of ['accepted', 'rejected', 'released', 'modified'] as const) {
    container.on(outcome, ({ delivery }: EventContext) => {
      const waiting = delivery && open.get(delivery)
      if (!waiting) return
      open.delete(delivery)
      if (outcome === 'accepted') waiting.resolve()
      else waiting.reject(new Error(`the broker ${outcome} the message`))
    })
  }

  return {
    async send(message) {
      const sent = Promise.withResolvers<void>()
      open.set(sender.send(asMessage(message)), sent)
      await Promise.race([sent.promise, failed.promise])
    },
    async receive(count) {
      const found: QueueMessage[] = []
      const complete = Promise.withResolvers<QueueMessage[]>()
      container.on('message', ({ message }: EventContext) => {
        const content = (message!.body as { content: Buffer }).content
        found.push({ id: message!.message_id, body: JSON.parse(String(content)) as unknown })
        if (found.length === count) complete.resolve(found)
      })
      connection.open_receiver({ source: { address: `/queue/${name}`, durable: 2 } })
      return Promise.race([complete.promise, failed.promise])
    },
    async close() {
      const closed = new Promise<void>((resolve) => container.once('connection_close', () => resolve()))
      connection.close()
      await Promise.race([closed, failed.promise.catch(() => {})])
    },
  }
}
