// Helpers for tests with a real broker: a sender of messages, a service in real time, and patient waiting.
import assert from 'node:assert/strict'
import rhea, { type Message } from 'rhea'
import type { Connector } from '@sensorium/contract'
import { systemClock } from '../../src/kernel/clock.ts'
import { startProcess } from '../support/process.ts'
import type { RabbitServer } from '../support/rabbitmq.ts'
import { OPERATOR_TOKEN, type Service } from '../support/service.ts'

/** A generous deadline: a busy machine may take a minute for what takes a second elsewhere. */
const PATIENCE_MS = 150_000

/** Checks until the condition holds. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | false | undefined> | T | false | undefined,
): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const found = await look()
    if (found !== false && found !== undefined) return found
    assert.ok(Date.now() < deadline, `not within ${PATIENCE_MS / 1000} s: ${what}`)
    await systemClock.sleep(25)
  }
}

/** Sends durable messages to a durable queue, which it creates. Resolves when the broker has them on disk. */
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

const ADMIN_KEY = `ak_live_${'a'.repeat(32)}`

/** A service as a process that may be killed and restarted, with an agent that receives every event of the ERP. */
export interface Ledger {
  call: Service['call']
  /** The agent's. */
  token: string
  output(): string
  killAndStart(): Promise<void>
  stop(): Promise<unknown>
}

export async function startLedger(env: Record<string, string>): Promise<Ledger> {
  const start = () =>
    startProcess({
      ...env,
      OPERATOR_TOKEN,
      LOG_LEVEL: 'warn',
      RATE_LIMIT_TENANT: 'off',
      RATE_LIMIT_AGENT: 'off',
      BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    })
  let running = await start()
  const call: Service['call'] = async (request, { token, body } = {}) => {
    const [method, path] = request.split(' ') as [string, string]
    const reply = await fetch(running.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, text, body: JSON.parse(text || 'null') }
  }
  const tokenOf = async (api_key: string): Promise<string> =>
    (await call<{ access_token: string }>('POST /v1/auth/token', { body: { api_key } })).body.access_token
  const admin = await tokenOf(ADMIN_KEY)
  const { body: agent } = await call<{ id: string }>('POST /v1/agents', {
    token: admin,
    body: { name: 'Ledger', delivery_mode: 'poll', client_type: 'other' },
  })
  const { body: key } = await call<{ key: string }>(`POST /v1/agents/${agent.id}/keys`, {
    token: admin,
    body: { scopes: ['receive', 'interests:write'] },
  })
  const token = await tokenOf(key.key)
  await call(`POST /v1/agents/${agent.id}/interests`, {
    token,
    body: { event_type: 'com.erp.*', priority: 0, enrichment_depth: 'none' },
  })
  return {
    call,
    token,
    output: () => running.output(),
    async killAndStart() {
      running.kill('SIGKILL')
      await running.ended
      running = await start()
    },
    stop: () => running.stop(),
  }
}

/** How much the default tenant has published and delivered, over all days. */
export async function usageOf(call: Service['call']): Promise<{ events: number; deliveries: number }> {
  const { body } = await call<{ days: { events: number; deliveries: number }[] }>(
    'GET /operator/usage?tenant=default',
    {
      token: OPERATOR_TOKEN,
    },
  )
  return body.days.reduce(
    (sum, day) => ({ events: sum.events + day.events, deliveries: sum.deliveries + day.deliveries }),
    { events: 0, deliveries: 0 },
  )
}
