// Helpers that the channel tests share.
import assert from 'node:assert/strict'
import type { Channel, Feed, Member } from '@sensorium/contract'
import { callOf, type Reply, type Service, type TestTenant } from '../support/service.ts'

export interface ErrorBody {
  error: { code: string; message: string; details: Record<string, unknown> }
}

/** A caller: its token, and how it is named as a participant. */
export interface Actor {
  token: string
  type: 'agent' | 'org_admin'
  id: string
}

export async function someAgent(tenant: TestTenant, scopes?: string[]): Promise<Actor> {
  const { id, token } = await tenant.agent(scopes ? { scopes } : {})
  return { id, token, type: 'agent' }
}

export async function orgAdmin(service: Service, tenant: TestTenant): Promise<Actor> {
  const [row] = await service.store.rows<{ id: string }>('select id from org_admins where tenant_id = ?', [tenant.id])
  return { token: tenant.admin, type: 'org_admin', id: row!.id }
}

export function channelCalls(service: Pick<Service, 'call'>) {
  const call = callOf(service)
  const participant = ({ type, id }: Omit<Actor, 'token'>) => ({ participant_type: type, participant_id: id })
  return {
    async open(by: Actor, type: string, name = 'Incidents'): Promise<Channel> {
      const reply = await call<Channel>('POST /v1/channels', { token: by.token, body: { name, type } })
      assert.equal(reply.status, 201, reply.text)
      return reply.body
    },
    add: (by: Actor, channelId: string, whom: Omit<Actor, 'token'>, role?: string) =>
      call<Member & ErrorBody>(`POST /v1/channels/${channelId}/members`, {
        token: by.token,
        body: { ...participant(whom), ...(role ? { role } : {}) },
      }),
    remove: (by: Actor, channelId: string, whom: Omit<Actor, 'token'>) =>
      call<ErrorBody>(`DELETE /v1/channels/${channelId}/members/${whom.type}/${whom.id}`, { token: by.token }),
    async members(by: Actor, channelId: string): Promise<Member[]> {
      const reply = await call<{ members: Member[] }>(`GET /v1/channels/${channelId}/members`, { token: by.token })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.members
    },
    feed: (by: Actor, channelId: string, body: object = { event_type_glob: 'com.example.*' }) =>
      call<Feed & ErrorBody>(`POST /v1/channels/${channelId}/feeds`, { token: by.token, body }),
    unfeed: (by: Actor, channelId: string, feedId: string) =>
      call<ErrorBody>(`DELETE /v1/channels/${channelId}/feeds/${feedId}`, { token: by.token }),
    async feeds(by: Actor, channelId: string): Promise<Feed[]> {
      const reply = await call<{ feeds: Feed[] }>(`GET /v1/channels/${channelId}/feeds`, { token: by.token })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.feeds
    },
  }
}

export function assertRule(reply: Reply<ErrorBody>, rule: string, about = ''): void {
  assert.equal(reply.status, 422, `${about} ${reply.text}`)
  assert.equal(reply.body.error.code, 'business_rule_violation')
  assert.equal(reply.body.error.details['rule'], rule, about)
  assert.equal(reply.body.error.details['message'], reply.body.error.message)
}

export function assertNotFound(reply: Reply<ErrorBody>, type: string, id: string): void {
  assert.equal(reply.status, 404, reply.text)
  assert.equal(reply.body.error.code, 'not_found')
  assert.deepEqual(reply.body.error.details, { resource_type: type, resource_id: id })
}

/** The recorded changes of the tenant's routing, oldest first: `channel chn_…`, `feed fed_…`. */
export async function routingChanges({ store }: Service, tenantId: string): Promise<string[]> {
  const sql = 'select kind, id from routing_changes where tenant_id = ? order by version'
  return (await store.rows<{ kind: string; id: string }>(sql, [tenantId])).map(({ kind, id }) => `${kind} ${id}`)
}
