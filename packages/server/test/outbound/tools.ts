// The remote ends of the outbound tests: endpoints that answer as told, and readers of streams.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Delivery } from '@sensorium/contract'
import { systemClock } from '../../src/kernel/clock.ts'
import { callOf, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

/** For pushes whose receiver is of no importance. */
export const MAILBOX = { tenantId: 'tnt', recipientId: 'agt' }

interface QueueHealth {
  pending: number
  push: Record<string, unknown>
}

/** A queue of incoming items; `next` waits for the next one. */
export function makeLine<T>() {
  const items: T[] = []
  const waiting: ((item: T) => void)[] = []
  return {
    put(item: T): void {
      const taker = waiting.shift()
      if (taker) taker(item)
      else items.push(item)
    },
    next: (): Promise<T> =>
      items.length > 0 ? Promise.resolve(items.shift()!) : new Promise((resolve) => waiting.push(resolve)),
    here: (): number => items.length,
  }
}

export interface Received {
  headers: IncomingHttpHeaders
  text: string
  delivery: Delivery
  path: string
  method: string
}

export interface Told {
  status: number
  headers?: Record<string, string>
  body?: string
}

export interface Receiver {
  url: string
  port: number
  /** How every request is answered from now on: a status, more than that, or not at all. */
  answer: (received: Received, response: ServerResponse) => Told | number | null | Promise<Told | number | null>
  next(): Promise<Received>
  /** Every request received so far. */
  all: Received[]
  connections(): number
  stop(): Promise<void>
}

export async function startReceiver(host = '127.0.0.1', port = 0): Promise<Receiver> {
  const line = makeLine<Received>()
  let connections = 0
  const server = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const delivery = JSON.parse(text || 'null') as Delivery
    const received = { headers: request.headers, text, delivery, path: request.url!, method: request.method! }
    receiver.all.push(received)
    const told = await receiver.answer(received, response)
    if (told !== null) {
      const { status, headers = {}, body = '' } = typeof told === 'number' ? { status: told } : told
      response.writeHead(status, headers).end(body)
    }
    line.put(received)
  })
  server.on('connection', () => connections++)
  server.listen(port, host)
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  const receiver: Receiver = {
    url: `http://${host}:${bound}/inbox`,
    port: bound,
    answer: () => 204,
    next: line.next,
    all: [],
    connections: () => connections,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

export interface StreamEvent {
  event?: string
  id?: string
  data?: string
  retry?: string
  comment?: string
}

export interface Reader {
  status: number
  headers: IncomingHttpHeaders
  /** The next event, comments left out. */
  next(): Promise<Delivery>
  event(): Promise<StreamEvent>
  comment(): Promise<string>
  waiting(): number
  ended: Promise<void>
  pause(): void
  resume(): void
  close(): void
}

export function parseEvent(block: string): StreamEvent {
  const event: StreamEvent = {}
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*)(?::\s?(.*))?$/.exec(line) ?? []
    if (name === '') event.comment = value
    else if (name === 'data') data.push(value)
    else if (name === 'event' || name === 'id' || name === 'retry') event[name] = value
  }
  if (data.length > 0) event.data = data.join('\n')
  return event
}

export async function openReader(
  url: string,
  token: string,
  query = '',
  path = '/v1/delivery/stream',
): Promise<Reader> {
  const request = http.get(`${url}${path}${query}`, {
    headers: { authorization: `Bearer ${token}` },
    agent: false,
  })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const events = makeLine<StreamEvent>()
  const comments = makeLine<string>()
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event.comment !== undefined) comments.put(event.comment)
      else events.put(event)
    }
  })
  response.on('error', () => {})
  const ended = new Promise<void>((resolve) => response.once('close', resolve))
  return {
    status: response.statusCode!,
    headers: response.headers,
    event: events.next,
    comment: comments.next,
    waiting: events.here,
    async next() {
      const event = await events.next()
      assert.equal(event.event, 'delivery')
      const delivery = JSON.parse(event.data!) as Delivery
      assert.equal(event.id, delivery.id)
      return delivery
    },
    ended,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void request.destroy(),
  }
}

/** Polls until the condition holds, for changes that nothing announces. */
export async function until<T>(
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  what = 'it',
): Promise<T> {
  // The limit is generous: a busy machine may take a minute for what takes a second elsewhere.
  const limit = Date.now() + 150_000
  for (let looks = 0; ; looks++) {
    const found = await look()
    if (found) return found
    if (Date.now() > limit) throw new Error(`${what} did not happen within 150 s`)
    // After a few turns the condition waits for a disk or another process, which need the processor more.
    await (looks < 20 ? new Promise(setImmediate) : systemClock.sleep(5))
  }
}

let events = 0

export function outboundCalls(service: Service) {
  const call = callOf(service)
  return {
    async interest(agent: TestAgent, type = '*'): Promise<void> {
      const body = { event_type: type, filter_expression: null, priority: 0, enrichment_depth: 'none' }
      const reply = await call(`POST /v1/agents/${agent.id}/interests`, { token: agent.token, body })
      assert.equal(reply.status, 201, reply.text)
    },
    async setMode(tenant: TestTenant, agent: { id: string }, mode: string, endpoint?: string | null): Promise<void> {
      const body = { delivery_mode: mode, ...(endpoint === undefined ? {} : { delivery_endpoint: endpoint }) }
      const reply = await call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body })
      assert.equal(reply.status, 200, reply.text)
    },
    /** Makes an agent that is pushed to `endpoint`, with an interest in events of `type`. */
    async pushed(tenant: TestTenant, endpoint: string, type = '*'): Promise<TestAgent> {
      const agent = await tenant.agent({ mode: 'push' })
      await this.interest(agent, type)
      await this.setMode(tenant, agent, 'push', endpoint)
      return agent
    },
    async publish(
      agent: { token: string },
      type = 'com.example.thing.made',
      data: unknown = { n: 1 },
    ): Promise<string> {
      const id = `evt-${++events}`
      const body = { specversion: '1.0', type, source: '/tests', id, data }
      const reply = await call('POST /v1/events', { token: agent.token, body })
      assert.equal(reply.status, 202, reply.text)
      return id
    },
    async poll(agent: { token: string }, limit = 100): Promise<Delivery[]> {
      const reply = await call<{ deliveries: Delivery[] }>(`GET /v1/delivery/poll?limit=${limit}`, {
        token: agent.token,
      })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.deliveries
    },
    async ack(agent: { token: string }, ids: string[], on: Service = service): Promise<number> {
      const reply = await on.call<{ acknowledged: number }>('POST /v1/delivery/ack', {
        token: agent.token,
        body: { delivery_ids: ids },
      })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.acknowledged
    },
    async rows(agent: { id: string }): Promise<
      {
        id: string
        event_id: string
        state: string
        attempts: number
        due_at: number | null
        dlq_reason: string | null
        last_error: string | null
      }[]
    > {
      return service.store.rows(
        `select id, event_id, state, attempts, due_at, dlq_reason, last_error from deliveries where recipient_id = ?
         union all
         select id, event_id, 'acknowledged', attempts, null, null, null from acknowledged_deliveries where recipient_id = ? order by id`,
        [agent.id, agent.id],
      )
    },
    /** Resolves with the first delivery of the agent that reaches the wanted state. */
    state(agent: { id: string }, wanted: string) {
      return until(async () => (await this.rows(agent)).find((row) => row.state === wanted), `a delivery ${wanted}`)
    },
    async queue(tenant: TestTenant, agent: { id: string }): Promise<QueueHealth> {
      return (await call<QueueHealth>(`GET /v1/agents/${agent.id}/queue`, { token: tenant.admin })).body
    },
  }
}
