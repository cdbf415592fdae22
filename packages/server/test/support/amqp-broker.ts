// The remote end of a connector's socket: an AMQP 1.0 peer that sends what a test says and records the outcomes.
import type { AddressInfo, Socket } from 'node:net'
import rhea, { type Sender } from 'rhea'

export interface AmqpPeer {
  url: string
  /** The number of links that are open to receive. */
  receivers(): number
  /** Sends to receivers as far as their credit goes, and sends released messages again. Bytes are sent as they are. */
  offer(bodies: readonly unknown[]): void
  /** The largest number of messages that were sent and not settled at one time. */
  mostUnsettled(): number
  /** The largest credit that a link had. */
  mostCredit(): number
  settled(): { accepted: number; released: number; rejected: number }
  /** The outcome of each body, in the order in which the outcomes arrived. */
  outcomes(): readonly { body: unknown; outcome: 'accepted' | 'released' | 'rejected' }[]
  close(): Promise<void>
}

export async function startPeer(): Promise<AmqpPeer> {
  const container = rhea.create_container()
  const senders = new Set<Sender>()
  const queue: unknown[] = []
  const counts = { accepted: 0, released: 0, rejected: 0 }
  const outcomes: { body: unknown; outcome: keyof typeof counts }[] = []
  let unsettled = 0
  let mostUnsettled = 0
  let mostCredit = 0

  // The library would queue messages that exceed the credit and send them later; this peer does not send them at all.
  const written = new Map<Sender, number>()
  let scheduled = false

  function pump(): void {
    for (const sender of senders) {
      const credit = (sender as unknown as { credit: number }).credit
      mostCredit = Math.max(mostCredit, credit)
      while (queue.length > 0 && (written.get(sender) ?? 0) < credit && sender.sendable()) {
        const body = queue.shift()
        const message = { body: rhea.message.data_section(Buffer.from(JSON.stringify(body))) }
        const delivery = Buffer.isBuffer(body) ? sender.send(body, undefined, 0) : sender.send(message)
        Object.assign(delivery, { body })
        written.set(sender, (written.get(sender) ?? 0) + 1)
        mostUnsettled = Math.max(mostUnsettled, ++unsettled)
      }
    }
    if (written.size > 0) soon()
  }

  // By then written messages are on the wire and off the credit, and settlements before a flow have been reported.
  function soon(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      written.clear()
      pump()
    })
  }
  container.on('sender_open', ({ sender }) => {
    sender!.set_source({ address: sender!.source.address })
    senders.add(sender!)
  })
  for (const event of ['sender_close', 'session_close', 'connection_close', 'disconnected']) {
    container.on(event, ({ connection }: { connection: unknown }) => {
      for (const sender of senders) if (sender.connection === connection) senders.delete(sender)
    })
  }
  container.on('sendable', soon)
  for (const outcome of ['accepted', 'released', 'rejected'] as const) {
    container.on(outcome, ({ delivery }) => {
      const { body } = delivery as unknown as { body: unknown }
      counts[outcome]++
      outcomes.push({ body, outcome })
      unsettled--
      if (outcome === 'released') queue.push(body)
      soon()
    })
  }
  for (const event of ['error', 'connection_error', 'protocol_error']) container.on(event, () => {})
  container.sasl_server_mechanisms.enable_anonymous()
  const server = container.listen({ port: 0, host: '127.0.0.1' })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `amqp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    receivers: () => senders.size,
    offer(bodies) {
      queue.push(...bodies)
      soon()
    },
    mostUnsettled: () => mostUnsettled,
    mostCredit: () => mostCredit,
    settled: () => ({ ...counts }),
    outcomes: () => outcomes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
