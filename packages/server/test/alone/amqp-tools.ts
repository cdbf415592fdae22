// A sender of messages, a service in real time, and patience: what the tests with a real broker share.
import assert from 'node:assert/strict'
import rhea, { type Message } from 'rhea'
import type { Connector } from '@sensorium/contract'
import { systemClock } from '../../src/kernel/clock.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import type { RabbitServer } from '../support/rabbitmq.ts'

/** Sockets and brokers do not follow a clock that stands still. */
export const realClock: FakeClock = {
  ...systemClock,
  advance: async () => {},
  jump: async () => {},
  set() {},
  sleepers: () => 0,
}

/** Looks until it is so; the deadline is for what never becomes so. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | false | undefined> | T | false | undefined,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== false && found !== undefined) return found
    assert.ok(Date.now() < deadline, `not within ${withinMs / 1000} s: ${what}`)
    await systemClock.sleep(25)
  }
}

/** Sends durable messages to a durable queue, which it makes; resolves when the broker has them on disk. */
export function sendAll(broker: Pick<RabbitServer, 'url'>, queue: string, messages: readonly Message[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port, username, password } = new URL(broker.url)
    const container = rhea.create_container()
    let next = 0
    let accepted = 0
    container.on('sendable', ({ sender }) => {
      while (next < messages.length && sender!.sendable())
        sender!.send({ durable: true, ...messages[next++] } as Message)
    })
    container.on('accepted', ({ connection }) => {
      if (++accepted < messages.length) return
      connection.close()
      resolve()
    })
    for (const event of [
      'rejected',
      'released',
      'connection_error',
      'session_error',
      'sender_error',
      'disconnected',
      'error',
    ]) {
      container.on(event, (context: { error?: unknown }) =>
        reject(new Error(`${event}: ${String(context?.error ?? '')}`)),
      )
    }
    const connection = container.connect({
      host: hostname,
      port: Number(port),
      username,
      password: decodeURIComponent(password),
      reconnect: false,
    })
    connection.open_sender({ target: { address: `/queue/${queue}`, durable: 2 } })
  })
}

export const jsonMessage = (body: unknown, more: Partial<Message> = {}): Message =>
  ({
    body: rhea.message.data_section(Buffer.from(JSON.stringify(body))),
    content_type: 'application/json',
    ...more,
  }) as Message

export const orders = (from: number, count: number): Message[] =>
  Array.from({ length: count }, (_, i) => jsonMessage({ entity: 'order', action: 'created', id: `o-${from + i}` }))

export const sumOf = ({ counters }: Connector): string =>
  `${counters.received}/${counters.accepted}/${counters.duplicates}/${counters.released}/${counters.rejected}`
