// Attacks: what a client without a key, or with an ordinary key of another tenant, sends to slow others down.
import { randomBytes } from 'node:crypto'
import net from 'node:net'

/** The address of the attackers, which is not the neighbour's. */
const ATTACKERS = '127.0.0.2'

export interface Target {
  port: number
  /** The token of the attacker's own agent, in a tenant of its own. */
  token: string
  agentId: string
  /** A memory of the attacker, if the attack needs one. */
  memoryId?: string
}

export interface Attack {
  /** Creates what the attack needs, such as memories and interests, as its own agent through the API. */
  prepare?(call: (method: string, path: string, body: unknown) => Promise<unknown>, target: Target): Promise<void>
  /** Attacks until its process ends. Returns a function that returns the number of bytes sent so far. */
  run(target: Target): () => number
}

/** Opens connections that send `bytes()` and read nothing unless `read` is set, and replaces each that is closed. */
function flood(
  port: number,
  connections: number,
  bytes: () => string,
  options: { read?: boolean; every?: number } = {},
): () => number {
  const sockets = new Set<net.Socket>()
  let sentByClosed = 0
  const open = (): void => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: ATTACKERS })
    sockets.add(socket)
    socket.on('connect', () => socket.write(bytes()))
    if (options.read ?? true) socket.resume()
    else socket.pause()
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      sentByClosed += socket.bytesWritten
      setTimeout(open, 50)
    })
  }
  for (let i = 0; i < connections; i++) open()
  // A socket gets the next bytes only after it has sent the last ones, so that the attacker's own memory does not fill.
  const sendAgain = (): void => {
    for (const socket of sockets) if (!socket.destroyed && socket.writableLength === 0) socket.write(bytes())
  }
  if (options.every !== undefined) setInterval(sendAgain, options.every)
  return () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sentByClosed)
}

const get = (path: string, token?: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`

function post(path: string, token: string | null, body: string, headers = '', type = 'application/json'): string {
  const authorization = token === null ? '' : `Authorization: Bearer ${token}\r\n`
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${type}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

let n = 0
const event = (data: string): string =>
  `{"specversion":"1.0","type":"attack.x","source":"/a","id":"a-${process.pid}-${randomBytes(4).toString('hex')}-${n++}","data":${data}}`
const repeated = (part: string, bytes: number): string =>
  `[${Array(Math.floor(bytes / (part.length + 1)))
    .fill(part)
    .join(',')}]`
const memory = (content: string, metadata = '{}'): string =>
  `{"type":"semantic","scope":"agent","title":"Large","content":${JSON.stringify(content)},"metadata":${metadata}}`

/** A filter of some forty thousand steps over eighty numbers; each filter has a text of its own. */
const costly = (i: number): string =>
  `data.list.exists(a, data.list.exists(b, a + b == ${-1 - i}) && a > 10) || ${i} == 0`
const COSTLY_DATA = JSON.stringify({ list: Array.from({ length: 80 }, (_, i) => i) })

export const ATTACKS: Record<string, Attack> = {
  // ---- without a key
  'CONNECT behind pipelined requests': {
    run: ({ port }) => flood(port, 12, () => `${get('/healthz').repeat(500)}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`),
  },
  'a Content-Type of spaces': {
    run: ({ port }) =>
      flood(
        port,
        8,
        () => post('/v1/auth/token', null, '{}', '', `application/json; charset=${' '.repeat(15_000)}a b`),
        { every: 100 },
      ),
  },
  'bodies that never come': {
    run: ({ port }) =>
      flood(
        port,
        3_000,
        () => `${post('/v1/auth/token', null, '').replace('Content-Length: 0', 'Content-Length: 100')}`,
      ),
  },
  'webhooks of a megabyte, wrongly signed': {
    run({ port }) {
      const sent = post('/ingest/w/default', null, 'x'.repeat(1_000_000), `X-Service-Signature: ${'0'.repeat(64)}\r\n`)
      return flood(port, 4, () => sent, { every: 200 })
    },
  },
  'wrong keys': {
    run: ({ port }) =>
      flood(port, 8, () => post('/v1/auth/token', null, `{"api_key":"ak_live_${'x'.repeat(32)}"}`).repeat(5), {
        every: 50,
      }),
  },
  'escaped paths and two Hosts': {
    run: ({ port }) =>
      flood(port, 16, () => (get('/%6detrics') + 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n').repeat(10), {
        every: 100,
      }),
  },
  // ---- with an ordinary key
  'pipelined long polls': {
    run: ({ port, token }) => flood(port, 100, () => get('/v1/delivery/poll?wait=20', token).repeat(100)),
  },
  'large lists that nobody reads': {
    async prepare(call) {
      for (let i = 0; i < 30; i++)
        await call('POST', '/v1/memories', JSON.parse(memory('Large', `{"blob":"${'x'.repeat(1_000_000)}"}`)))
    },
    run: ({ port, token }) => flood(port, 8, () => get('/v1/memories?limit=200', token).repeat(40), { read: false }),
  },
  'large deliveries that nobody reads': {
    async prepare(call, { agentId }) {
      const interest = { event_type: 'attack.x', priority: 0, enrichment_depth: 'none' }
      await call('POST', `/v1/agents/${agentId}/interests`, interest)
      for (let i = 0; i < 30; i++) await call('POST', '/v1/events', JSON.parse(event(`"${'x'.repeat(1_000_000)}"`)))
      const polled = (await call('GET', '/v1/delivery/poll?limit=100', undefined)) as { deliveries: { id: string }[] }
      const delivery_ids = polled.deliveries.map(({ id }) => id)
      await call('POST', '/v1/delivery/nack', { delivery_ids, dead_letter: true, reason: 'to be listed' })
    },
    run: ({ port, token }) =>
      flood(port, 8, () => get('/v1/delivery/dlq?limit=200', token).repeat(40), { read: false }),
  },
  'events of a megabyte of {}': {
    run: ({ port, token }) =>
      flood(port, 4, () => post('/v1/events', token, event(repeated('{}', 1_000_000))), { every: 250 }),
  },
  'memories of ten megabytes': {
    run({ port, token }) {
      const sent = post('/v1/memories', token, memory('Large', `{"list":${repeated('[]', 9_000_000)}}`))
      return flood(port, 2, () => sent, { every: 1_000 })
    },
  },
  'four hundred costly filters': {
    async prepare(call, { agentId }) {
      for (let i = 0; i < 400; i++)
        await call('POST', `/v1/agents/${agentId}/interests`, {
          event_type: 'attack.*',
          filter_expression: costly(i),
          priority: 0,
          enrichment_depth: 'none',
        })
    },
    run: ({ port, token }) =>
      flood(
        port,
        4,
        () =>
          post(
            '/v1/events',
            token,
            `[${Array.from({ length: 20 }, () => event(COSTLY_DATA)).join(',')}]`,
            '',
            'application/cloudevents-batch+json',
          ),
        { every: 500 },
      ),
  },
  'acknowledgements of a hundred ids': {
    run({ port, token }) {
      const ids = Array.from({ length: 100 }, () => `"dlv_${randomBytes(13).toString('hex')}"`)
      const sent = post('/v1/delivery/ack', token, `{"delivery_ids":[${ids.join()}]}`)
      return flood(port, 64, () => sent, { every: 100 })
    },
  },
  'changes by four hundred clients': {
    async prepare(call, target) {
      const { id } = (await call('POST', '/v1/memories', JSON.parse(memory('Small')))) as { id: string }
      target.memoryId = id
    },
    run({ port, token, memoryId }) {
      const sent = post(`/v1/memories/${memoryId}`, token, '{"importance":0.4}').replace('POST', 'PATCH')
      return flood(port, 400, () => sent, { every: 100 })
    },
  },
  'searches of 32,000 characters': {
    run({ port, token }) {
      const sent = post('/v1/memories/search', token, JSON.stringify({ query: 'many words here '.repeat(2_000) }))
      return flood(port, 24, () => sent, { every: 500 })
    },
  },
}
