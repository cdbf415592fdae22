// The senders of the requests: callers of every kind, in a tenant with some resources of every kind. A long run wears
// its own world out: tokens lapse after an hour, and limits and quotas that it sets as operator would refuse all the
// rest. So the world is put right now and then.
import { setTimeout as sleep } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { SCOPES } from '@sensorium/contract'
import type { Caller, Tools } from './requests.ts'

export const KEY = 'ak_live_0123456789abcdefghijABCDEFGHIJ01'
export const OPERATOR = 'operator-token-for-the-fuzz'
const TENANTS = ['acme', 'globex']
/** Tokens are valid for an hour. */
const RENEW_TOKENS_MS = 20 * 60_000

export interface World extends Tools {
  /** Undoes the changes by which further requests would be refused. */
  putRight(): Promise<void>
}

type Body = Record<string, unknown>

export async function makeWorld(url: string): Promise<World> {
  async function call(method: string, path: string, token: string | null, body?: Body): Promise<Body> {
    const send = () =>
      fetch(url + path, {
        method,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    // A kept connection may have been closed meanwhile: between two calls of a long run more than a minute can pass.
    const response = await send().catch(send)
    // A node with too much in hand refuses calls of the fuzz itself, too.
    if (response.status === 503) {
      await response.body?.cancel()
      await sleep(1_000)
      return call(method, path, token, body)
    }
    assert.ok(response.ok, `${method} ${path} answered ${response.status}`)
    return (await response.json()) as Body
  }
  const exchange = async (api_key: string): Promise<string> =>
    (await call('POST', '/v1/auth/token', null, { api_key }))['access_token'] as string

  const admin = await exchange(KEY)
  const untouchable = new Set<string>()
  async function agentKey(scopes: readonly string[]): Promise<string> {
    const shape = { name: 'Actor', delivery_mode: 'poll', client_type: 'other', team_id: 'red' }
    const { id } = await call('POST', '/v1/agents', admin, shape)
    const key = await call('POST', `/v1/agents/${id}/keys`, admin, { scopes })
    untouchable.add(id as string).add(key['id'] as string)
    return key['key'] as string
  }
  const strong = await agentKey(SCOPES)
  const weak = await agentKey(['receive'])
  await call('POST', '/operator/tenants', OPERATOR, { slug: 'globex' })
  const { keys } = await call('GET', '/operator/tenants/acme/admin-keys', OPERATOR)
  for (const { id } of keys as { id: string }[]) untouchable.add(id)

  // The same objects for the whole run; their tokens are renewed in place.
  const holders: { caller: Caller; key: string; spelling(token: string): string }[] = []
  function holder(
    key: string,
    opens: Caller['opens'],
    spelling = (token: string): string => `Bearer ${token}`,
  ): Caller {
    const caller: Caller = { authorization: null, opens }
    holders.push({ caller, key, spelling })
    return caller
  }
  const callers: Caller[] = [
    ...[KEY, KEY, strong, strong, strong, weak].map((key) => holder(key, 'tenant')),
    { authorization: `Bearer ${OPERATOR}`, opens: 'operator' },
    { authorization: null, opens: 'nothing' },
    holder(KEY, 'nothing', (token) => `Bearer  ${token}`),
    holder(KEY, 'nothing', (token) => `Bearer ${token} `),
    holder(KEY, 'nothing', (token) => `Bearer ${token.slice(0, -2)}`),
    ...[
      'Bearer',
      'Bearer ',
      'Bearer x',
      'Basic YTpi',
      `Bearer ${KEY}`,
      'Bearer eyJhbGciOiJub25lIn0.e30.',
      'Bearer ü\u00ff',
      `Bearer ${'a'.repeat(6000)}`,
    ].map((authorization): Caller => ({ authorization, opens: 'nothing' })),
  ]
  let renewedAt = -Infinity
  async function renewTokens(): Promise<void> {
    if (performance.now() < renewedAt + RENEW_TOKENS_MS) return
    renewedAt = performance.now()
    const tokens = new Map<string, string>()
    for (const key of new Set(holders.map((each) => each.key))) tokens.set(key, await exchange(key))
    for (const { caller, key, spelling } of holders) caller.authorization = spelling(tokens.get(key)!)
  }
  const settings = await call('GET', '/operator/tenants/acme/settings', OPERATOR)
  const noSettings = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
  async function putRight(): Promise<void> {
    for (const slug of TENANTS) await call('PATCH', `/operator/tenants/${slug}/settings`, OPERATOR, noSettings)
    await renewTokens()
  }
  await putRight()

  const selves = [...untouchable].filter((id) => id.startsWith('agt_'))
  return {
    callers,
    known: new Map([['agt', selves]]),
    paths: new Map(),
    mergeable: new Map(),
    webhooks: [],
    slugs: [...TENANTS, 'new-one', 'nobody'],
    untouchable,
    eventIds: ['e-1', 'e-2', 'e-3'],
    selves,
    putRight,
  }
}
