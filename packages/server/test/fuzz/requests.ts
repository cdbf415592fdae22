// Requests made from the OpenAPI document: most are nearly right, because those get furthest.
import { createHmac } from 'node:crypto'
import type { OpenApi, OpenApiOperation } from './judge.ts'
import type { Random } from './random.ts'
import { MEDIA_TYPES, METHODS, ODD_NUMBERS, ODD_SEGMENTS, PAGES, STRANGE_PATHS } from './odd-requests.ts'
import { brokenBytes, encode, hostile, spoiled, valid, type Schema } from './values.ts'

export interface Asked {
  bytes: Buffer
  method: string
  url: string
  /** Null for a request that is no operation of the document. */
  operation: OpenApiOperation | null
  /** Whether the response has no body. */
  head: boolean
  /** Whether it is sent on a new connection, so that leftover bytes do not run into the next request. */
  fresh: boolean
}

export interface Caller {
  /** The Authorization header, as it is sent. */
  authorization: string | null
  /** What it gives access to; nothing if it is invalid. */
  opens: 'tenant' | 'operator' | 'nothing'
}

export interface Tools {
  callers: readonly Caller[]
  /** Ids seen in responses, by prefix, and other values that paths and bodies may name. */
  known: Map<string, string[]>
  /** Paths of existing resources with several parameters, by their template. */
  paths: Map<string, string[]>
  /** Memories by owner and scope: those with the same can be merged. */
  mergeable: Map<string, string[]>
  /** Where signed requests go, and the secrets that sign them. */
  webhooks: { path: string; secret: string }[]
  slugs: string[]
  /** Ids that must not be switched off, or no caller could act any more. */
  untouchable: ReadonlySet<string>
  eventIds: string[]
  /** The ids of the agents among the callers. */
  selves: string[]
}

interface Target {
  method: string
  path: string
  operation: OpenApiOperation
}

const HOT = new Map([
  ['streamDeliveries', 0.2],
  ['createConnector', 0.15],
])

const signature = (secret: string, body: Buffer): string => createHmac('sha256', secret).update(body).digest('hex')

export function targetsOf(document: OpenApi): Target[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

export function makeAsk(document: OpenApi, tools: Tools): (r: Random) => Asked {
  const targets = targetsOf(document)
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!) : schema

  const idOf = (prefix: string, r: Random): string | undefined => {
    const ids = tools.known.get(prefix)
    return ids && ids.length > 0 ? r.pick(ids) : undefined
  }

  /** An id for a field or a path parameter, chosen by its name. */
  function knownId(name: string, path: string, r: Random): string | undefined {
    if (name === 'slug' || name === 'tenant' || name === 'tenant_slug') return r.pick(tools.slugs)
    if (name === 'event_id' || (name === 'id' && path.startsWith('/v1/events'))) return r.pick(tools.eventIds)
    if (name === 'key_id') return idOf('key', r)
    if (name === 'interest_id') return idOf('int', r)
    if (name === 'feed_id') return idOf('fed', r)
    if (name === 'rel_id') return idOf('rel', r)
    if (name === 'delivery_ids') return idOf('dlv', r)
    if (name === 'participant_type') return r.pick(['agent', 'org_admin'])
    if (name === 'participant_id') return idOf(r.pick(['agt', 'adm']), r)
    if (name === 'agent_id') return idOf('agt', r)
    if (/memory_ids?$/.test(name)) return idOf('mem', r)
    if (name !== 'id') return undefined
    if (path.includes('/delivery/dlq/') && r.chance(0.8)) return idOf('dead', r) ?? idOf('dlv', r)
    if (path.includes('/delivery/')) return idOf('dlv', r)
    const kind = /\/(agents|channels|memories|webhooks|connectors)\//.exec(path)?.[1]
    return (
      kind && idOf({ agents: 'agt', channels: 'chn', memories: 'mem', webhooks: 'whk', connectors: 'cnr' }[kind]!, r)
    )
  }

  /** Memories that can be merged, if they still exist: random ids hardly ever name two of one owner and scope. */
  function mergeOf(r: Random): { url: string; bytes: Buffer } | null {
    const groups = [...tools.mergeable.values()].filter((ids) => ids.length > 1)
    if (groups.length === 0 || r.chance(0.5)) return null
    const ids = r.pick(groups)
    const [into, from] = [r.int(ids.length), r.int(ids.length)]
    const body = Buffer.from(JSON.stringify({ memory_ids: [ids[from]] }))
    return { url: `/v1/memories/${ids[into]}/merge`, bytes: body }
  }

  const ENDS = /^(deactivate|revoke|deleteAgent|deleteTenant)/
  function pathOf({ path, operation }: Target, r: Random): string {
    const leads = tools.paths.get(path)
    if (leads && r.chance(0.7)) {
      const lead = r.pick(leads)
      if (!ENDS.test(operation.operationId) || !lead.split('/').some((part) => tools.untouchable.has(part))) return lead
    }
    return path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (r.chance(0.15)) return r.pick(ODD_SEGMENTS)
      // Callers manage only their own interests, so their own ids come up more often there.
      const self = name === 'id' && path.includes('/interests') && r.chance(0.7)
      const known = (self ? r.pick(tools.selves) : knownId(name, path, r)) ?? r.pick(ODD_SEGMENTS)
      return ENDS.test(operation.operationId) && tools.untouchable.has(known)
        ? 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d'
        : encodeURIComponent(known)
    })
  }

  function queryOf(operation: OpenApiOperation, path: string, r: Random): string {
    const parts: string[] = []
    for (const { name, in: place, schema } of operation.parameters) {
      if (place !== 'query' || !name || !schema || r.chance(0.4)) continue
      const good = encodeURIComponent(String(knownId(name, path, r) ?? valid(schema, r, resolve, () => undefined)))
      // A long poll of seconds would only make the run longer.
      const value =
        name === 'wait' ? r.pick(['0', '0', '0', '-1', '21', 'x', '']) : r.chance(0.3) ? r.pick(ODD_NUMBERS) : good
      parts.push(`${name}=${value}`)
      if (r.chance(0.05)) parts.push(`${name}=${good}`)
      if (r.chance(0.03)) parts.push(r.pick([`${name}[]=1`, `${name}[a]=1`, `${name}.a=1`, name, `${name}=1=2`]))
    }
    if (r.chance(0.05))
      parts.push(
        r.pick([
          '__proto__=1',
          'constructor[prototype][x]=1',
          '%zz=1',
          '=',
          '&',
          'a=%ff',
          'x'.repeat(3000),
          '?',
          'toString=1',
          '%00=%00',
        ]),
      )
    return parts.length > 0 ? `?${parts.join('&')}` : ''
  }

  // Printable and short, so that most envelopes are accepted; `spoiled` makes the others wrong.
  function eventField(name: string, r: Random): string | undefined {
    if (name === 'id') return r.chance(0.2) ? r.pick(tools.eventIds) : `e-${r.int(1e9)}`
    if (name === 'type') return r.pick(['com.example.order.created', 'com.example.x', 'a', 'test.dashboard'])
    if (name === 'source') return r.pick(['/orders', 'https://example.com/a', 'urn:x:y'])
    if (name === 'subject') return r.pick(['order/1', 'Zürich'])
    return undefined
  }
  const envelope = (r: Random): unknown =>
    valid(document.components.schemas['Event']!, r, resolve, (name) => eventField(name, r))

  function bodyOf(operation: OpenApiOperation, path: string, r: Random): { type: string | null; bytes: Buffer } | null {
    const media = Object.entries(operation.requestBody?.content ?? {})
    if (media.length === 0)
      return r.chance(0.9) ? null : { type: r.pick(MEDIA_TYPES), bytes: Buffer.from(encode(hostile(r))) }
    const [type, { schema }] = r.pick(media)
    const isEvents = path === '/v1/events'
    let value = valid(schema, r, resolve, (name) => (isEvents ? eventField(name, r) : knownId(name, path, r)))
    if (operation.operationId === 'explainEvent') value = { ...(value as object), event: envelope(r) }
    const kind = r.next()
    if (kind > 0.45 && kind < 0.85) value = spoiled(value, r)
    let text = encode(value)
    if (r.chance(0.03) && text.startsWith('{'))
      text = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${text.slice(1)}`.replace(
        /,\}$/,
        '}',
      )
    const bytes = kind >= 0.93 ? brokenBytes(text, r) : Buffer.from(text)
    return { type: r.chance(0.06) ? r.pick([null, ...MEDIA_TYPES]) : type, bytes }
  }

  function headersOf(target: Target | null, r: Random): string[] {
    const headers: string[] = []
    const door = target?.path.startsWith('/operator') ? 'operator' : 'tenant'
    const caller = r.pick(r.chance(0.92) ? tools.callers.filter(({ opens }) => opens === door) : tools.callers)
    if (caller.authorization !== null) headers.push(`Authorization: ${caller.authorization}`)
    if (r.chance(0.1))
      headers.push(
        `X-Request-Id: ${r.pick(['mine', 'x'.repeat(128), 'x'.repeat(129), 'ünïcode', '', ' ', 'a b', '"<>&'])}`,
      )
    if (r.chance(0.15))
      headers.push(
        `Idempotency-Key: ${r.pick(['k1', 'k2', 'k3', `k${r.int(1000)}`, 'x'.repeat(255), 'x'.repeat(256), '', 'ÿ', "'; --"])}`,
      )
    if (r.chance(0.02)) headers.push(`Idempotency-Key: twice-${r.int(3)}`)
    if (r.chance(0.03))
      headers.push(
        r.pick([
          'Accept: text/html',
          'Accept: */*;q=0',
          'Accept-Encoding: gzip, br',
          'Range: bytes=0-1',
          'If-None-Match: *',
          'X-Forwarded-For: 1.2.3.4',
          'X-HTTP-Method-Override: DELETE',
          'Cookie: a=b; __proto__=x',
          'Upgrade: websocket\r\nConnection: Upgrade',
          'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x',
          'Connection: close',
          'Connection: x-request-id',
          'Origin: null',
          'TE: trailers',
          'Max-Forwards: 0',
          'Expect: 100-continue',
          'Expect: the-unexpected',
          '__proto__: 1',
          'constructor: 1',
        ]),
      )
    if (target?.path === '/v1/events' && r.chance(0.15)) {
      for (const [name, value] of [
        ['ce-specversion', '1.0'],
        ['ce-type', 'com.example.x'],
        ['ce-source', '/x'],
        ['ce-id', `b-${r.int(1000)}`],
        ['ce-subject', 'a%20b'],
        ['ce-time', '2030-01-01T00:00:00Z'],
        ['ce-data', 'x'],
        ['ce-', 'x'],
        ['ce-UPPER', '%ff'],
        ['ce-__proto__', '1'],
      ] as const) {
        if (r.chance(0.75))
          headers.push(`${name}: ${r.chance(0.9) ? value : r.pick(['', '\u00ff', '%zz', 'x'.repeat(3000), '"'])}`)
      }
    }
    return headers
  }

  function assemble(
    method: string,
    url: string,
    headers: string[],
    body: Buffer | null,
    r: Random,
  ): Pick<Asked, 'bytes' | 'fresh'> {
    let fresh = headers.some((header) => /^(connection|upgrade|expect)/i.test(header))
    let version = 'HTTP/1.1'
    const all = ['Host: localhost', ...headers]
    let payload = body
    if (body) {
      if (r.chance(0.1)) {
        all.push('Transfer-Encoding: chunked')
        const cut = r.int(body.length + 1)
        const chunk = (part: Buffer): Buffer =>
          part.length === 0
            ? Buffer.alloc(0)
            : Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
        payload = Buffer.concat([chunk(body.subarray(0, cut)), chunk(body.subarray(cut)), Buffer.from('0\r\n\r\n')])
      } else all.push(`Content-Length: ${body.length}`)
    }
    if (r.chance(0.01)) {
      fresh = true
      const trick = r.int(8)
      if (trick === 0) all.shift() // no Host
      if (trick === 1) all.push('Host: another')
      if (trick === 2) version = r.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'HTTP', ''])
      if (trick === 3)
        all.push(r.pick(['Broken Header', ': no name', 'Na me: x', 'X: a\u0000b', 'X: a\u0001b', '(x): y']))
      if (trick === 4) all.push('Content-Length: 5', 'Transfer-Encoding: chunked')
      if (trick === 5)
        all.push(
          r.pick([
            'Content-Length: -1',
            'Content-Length: x',
            'Content-Length: 99999999999999999999',
            'Transfer-Encoding: gzip',
          ]),
        )
      if (trick === 6) all.push(...Array.from({ length: r.pick([50, 1000]) }, (_, i) => `X-${i}: ${'y'.repeat(20)}`))
      if (trick === 7) all.push('Authorization: Bearer twice', 'Content-Type: text/plain')
    }
    const head = Buffer.from(`${method} ${url} ${version}\r\n${all.join('\r\n')}\r\n\r\n`, 'latin1')
    return { bytes: payload ? Buffer.concat([head, payload]) : head, fresh }
  }

  return (r) => {
    const kind = r.next()
    if (kind < 0.02) {
      const url = r.chance(0.3) ? r.pick(PAGES) : r.pick(STRANGE_PATHS) + (r.chance(0.2) ? r.pick(ODD_SEGMENTS) : '')
      const method = r.pick(METHODS)
      return {
        ...assemble(method, url, headersOf(null, r), null, r),
        method,
        url,
        operation: null,
        head: method === 'HEAD',
      }
    }
    let target = r.pick(targets)
    if (!r.chance(HOT.get(target.operation.operationId) ?? 1)) target = r.pick(targets)
    const { operation, path } = target
    const strayMethod = kind < 0.05
    const method = strayMethod ? r.pick(METHODS) : target.method
    const headers = headersOf(target, r)
    const merge = operation.operationId === 'mergeMemories' ? mergeOf(r) : null
    const body = merge ? { type: 'application/json', bytes: merge.bytes } : bodyOf(operation, path, r)
    if (body && body.type !== null) headers.push(`Content-Type: ${body.type}`)
    const webhook =
      path.startsWith('/ingest/w/') && tools.webhooks.length > 0 && r.chance(0.5) ? r.pick(tools.webhooks) : null
    if (webhook) headers.push(`X-Service-Signature: ${signature(webhook.secret, body?.bytes ?? Buffer.alloc(0))}`)
    const url = webhook?.path ?? merge?.url ?? pathOf(target, r) + queryOf(operation, path, r)
    // For a path with a `..` or an empty segment the server decides which operation answers.
    const own = method === target.method && !/\/(?:\.\.|%2e%2e|)(?:\/|$|\?)/i.test(url)
    return {
      ...assemble(method, url, headers, body?.bytes ?? null, r),
      method,
      url,
      operation: own ? operation : null,
      head: method === 'HEAD',
    }
  }
}
