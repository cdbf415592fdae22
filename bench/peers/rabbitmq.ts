import { noBroker, startRabbit } from '../../packages/server/test/support/rabbitmq.ts'
import { optional, RECIPIENTS, type StartPeer } from './peer.ts'

/** The part of amqplib that is used. */
interface Channel {
  assertExchange(name: string, type: string, options: object): Promise<unknown>
  assertQueue(name: string, options: object): Promise<unknown>
  bindQueue(queue: string, exchange: string, key: string): Promise<unknown>
  prefetch(count: number): Promise<unknown>
  publish(exchange: string, key: string, body: Buffer, options: object, confirmed: (error: unknown) => void): boolean
  consume(queue: string, heard: (message: { properties: { messageId: string } } | null) => void): Promise<unknown>
  ack(message: object): void
}
interface Amqplib {
  connect(url: string, socket: object): Promise<{ createConfirmChannel(): Promise<Channel>; close(): Promise<void> }>
}

/** A fan-out exchange and a quorum queue for each recipient, over AMQP 0-9-1 with confirms. */
export const startRabbitMq: StartPeer = async () => {
  if (noBroker) return noBroker
  const loaded = await optional<{ default: Amqplib }>('amqplib')
  if (!loaded) return 'npm install --no-save amqplib'
  const rabbit = await startRabbit()
  const connection = await loaded.default.connect(rabbit.url, { noDelay: true })
  const publishing = await connection.createConfirmChannel()
  await publishing.assertExchange('bench', 'fanout', { durable: true })
  for (let i = 0; i < RECIPIENTS; i++) {
    await publishing.assertQueue(`bench-${i}`, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    await publishing.bindQueue(`bench-${i}`, 'bench', '')
  }
  return {
    name: 'RabbitMQ, quorum queues',
    durability: 'on disk (fsync) in each queue',
    pid: () => rabbit.pid,
    publish: ({ id, text }) =>
      new Promise((resolve, reject) => {
        publishing.publish('bench', '', Buffer.from(text), { persistent: true, messageId: id }, (error) =>
          error ? reject(error as Error) : resolve(),
        )
      }),
    async receive(recipient, heard) {
      const channel = await connection.createConfirmChannel()
      await channel.prefetch(100)
      await channel.consume(`bench-${recipient}`, (message) => {
        if (!message) return
        heard(message.properties.messageId)
        channel.ack(message)
      })
    },
    async stop() {
      await connection.close().catch(() => {})
      await rabbit.stop()
    },
  }
}
