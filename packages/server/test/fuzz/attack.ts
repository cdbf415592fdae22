// The attack itself: callers of every kind, and requests until there have been enough of them. The test and the long run
// (`scripts/fuzz.ts`) share it.
import assert from 'node:assert/strict'
import { openapi, operations } from '@sensorium/contract'
import { makeJudge, type OpenApi } from './judge.ts'
import { random } from './random.ts'
import { makeAsk, type Caller, type Tools } from './requests.ts'
import { openWire, type WireReply } from './wire.ts'

export const KEY = 'ak_live_0123456789abcdefghijABCDEFGHIJ01'
export const OPERATOR = 'operator-token-for-the-fuzz'
const CONNECTIONS = 32
const MOST_PROBLEMS = 8
/** As many ids of a kind are remembered; older ones make room. */
const MOST_KNOWN = 100
const document = openapi(Object.values(operations)) as never as OpenApi

/** The environment of a service that is attacked. */
export const ENVIRONMENT = {
  BOOTSTRAP_TENANT: 'acme',
  BOOTSTRAP_ADMIN_KEY: KEY,
  OPERATOR_TOKEN: OPERATOR,
  RATE_LIMIT_AGENT: 'off',
  RATE_LIMIT_TENANT: 'off',
  LOG_LEVEL: 'error',
}

export interface AttackOptions {
  seed: number
  count: number
  /** It ends after that many, however few requests it has sent. */
  seconds: number
  say(text: string): void
  /** Statuses that are fine whatever their body says. */
  isFine?(status: number): boolean
}

/** Callers of every kind, and something of everything to name. */
export async function prepare(url: string): Promise<Tools> {
  const call = async (
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
  ): Promise<Record<string, string>> => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    assert.ok(answer.ok, `${method} ${path} answered ${answer.status}`)
    return (await answer.json()) as Record<string, string>
  }
  const exchange = async (api_key: string): Promise<string> =>
    (await call('POST', '/v1/auth/token', null, { api_key }))['access_token']!
  const admin = await exchange(KEY)
  const untouchable = new Set<string>()
  const agentToken = async (scopes: string[]): Promise<string> => {
    const { id } = await call('POST', '/v1/agents', admin, {
      name: 'Actor',
      delivery_mode: 'poll',
      client_type: 'other',
      team_id: 'red',
    })
    const key = await call('POST', `/v1/agents/${id}/keys`, admin, { scopes })
    untouchable.add(id!).add(key['id']!)
    return exchange(key['key']!)
  }
  const every = [
    'send',
    'receive',
    'memory:read',
    'memory:write',
    'admin',
    'channel:read',
    'channel:write',
    'interests:read',
    'interests:write',
  ]
  const agent = await agentToken(every)
  const weak = await agentToken(['receive'])
  await call('POST', '/operator/tenants', OPERATOR, { slug: 'globex' })
  const bearer = (token: string): Caller => ({ authorization: `Bearer ${token}`, opens: 'tenant' })
  return {
    callers: [
      bearer(admin),
      bearer(admin),
      bearer(agent),
      bearer(agent),
      bearer(agent),
      bearer(weak),
      { authorization: `Bearer ${OPERATOR}`, opens: 'operator' },
      { authorization: null, opens: 'nothing' },
      ...[
        'Bearer',
        'Bearer ',
        'Bearer x',
        'Basic YTpi',
        `Bearer  ${admin}`,
        `Bearer ${admin} `,
        `Bearer ${admin.slice(0, -2)}`,
        `Bearer ${KEY}`,
        'Bearer eyJhbGciOiJub25lIn0.e30.',
        'Bearer ü\u00ff',
        `Bearer ${'a'.repeat(6000)}`,
      ].map((authorization): Caller => ({ authorization, opens: 'nothing' })),
    ],
    known: new Map([['agt', [...untouchable].filter((id) => id.startsWith('agt_'))]]),
    slugs: ['acme', 'globex', 'new-one', 'nobody'],
    untouchable,
    eventIds: ['e-1', 'e-2', 'e-3'],
    selves: [...untouchable].filter((id) => id.startsWith('agt_')),
  }
}

function learn(tools: Tools, reply: WireReply): void {
  for (const [id] of reply.body
    .toString('latin1')
    .matchAll(/\b(?:agt|key|int|chn|mbr|fed|dlv|mem|rel|whk|cnr|adm)_[0-9a-z]{26}\b/g)) {
    const prefix = id.slice(0, 3)
    const ids = tools.known.get(prefix) ?? []
    if (ids.includes(id)) continue
    tools.known.set(prefix, [id, ...ids].slice(0, MOST_KNOWN))
  }
}

export async function attack(
  port: number,
  tools: Tools,
  { seed, count, seconds: mostSeconds, say, isFine = () => false }: AttackOptions,
): Promise<string[]> {
  const ask = makeAsk(document, tools)
  const judge = makeJudge(document)
  const statuses = new Map<string, number>()
  const problems = new Map<string, string>()
  let next = 0
  const began = performance.now()

  async function attacker(): Promise<void> {
    const wire = openWire(port)
    while (next < count && problems.size < MOST_PROBLEMS && performance.now() < began + mostSeconds * 1000) {
      const number = next++
      const asked = ask(random(seed, number))
      let reply = await wire.send(asked.bytes, asked)
      // A kept connection may be closed by the other side just as it is used; a new one may not.
      if (!reply && !wire.timedOut()) reply = await wire.send(asked.bytes, { ...asked, fresh: true })
      if (reply && reply.status < 300 && reply.body.length < 20_000) learn(tools, reply)
      const name = asked.operation?.operationId ?? 'other'
      const status = `${name} ${reply?.status ?? 'none'}`
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const problem = reply && isFine(reply.status) ? null : judge(asked, reply)
      // The same fault of the same operation is told once.
      if (problem)
        problems.set(`${name} ${problem.replace(/\d+|req_\w+/g, '#').slice(0, 60)}`, told(number, asked.bytes, problem))
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, attacker))

  const seconds = (performance.now() - began) / 1000
  say(`${next} requests in ${seconds.toFixed(1)} s, ${Math.round(next / seconds)} a second`)
  const byClass = Map.groupBy(statuses, ([name]) => name.split(' ')[1]!)
  say(
    [...byClass]
      .sort()
      .map(([status, list]) => `${status}: ${list.reduce((sum, [, n]) => sum + n, 0)}`)
      .join(', '),
  )
  const reached = new Set([...statuses.keys()].filter((name) => / 2\d\d$/.test(name)).map((name) => name.split(' ')[0]))
  say(
    `never answered with success: ${
      Object.keys(operations)
        .filter((id) => !reached.has(id))
        .join(', ') || 'none'
    }`,
  )
  return [...problems.values()]
}

/** The request as a person can read it: what is long or random in it is cut. */
const told = (number: number, bytes: Buffer, problem: string): string => {
  const text = JSON.stringify(bytes.toString('latin1'))
    .replace(/eyJ[\w.-]{50,}/g, '<token>')
    .replace(/(.{1,6}?)\1{30,}/g, '<$1 many times>')
  return `request ${number}: ${problem}\n${text.slice(0, 1500)}`
}

export const inFlight = async (url: string): Promise<number> =>
  Number(/^sensorium_http_in_flight (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])
