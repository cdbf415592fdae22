// Which scopes each operation needs. The table below is the specification; the contract is checked against it, and the
// service against both.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, SCOPES, type Operation, type Scope } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, tenantForSuite, type Reply } from '../support/service.ts'

type Needed = Scope | 'any' | 'org_admin' | 'public' | 'operator'

/** The scope for any resource, and the scope for the caller's own if it differs. */
const PROMISED: Record<string, Needed | [others: Needed, self: Needed]> = {
  'POST /auth/token': 'public',
  'GET /agents': 'any',
  'GET /agents/{id}': 'any',
  'POST /agents': 'admin',
  'PUT /agents/by-external-id/{external_id}': 'admin',
  'PATCH /agents/{id}': ['admin', 'receive'],
  'POST /agents/{id}/deactivate': 'admin',
  'POST /agents/{id}/activate': 'admin',
  'POST /agents/{id}/pause': ['admin', 'any'],
  'POST /agents/{id}/resume': ['admin', 'any'],
  'GET /events/types': 'any',
  'GET /agents/{id}/keys': 'admin',
  'POST /agents/{id}/keys': 'admin',
  'DELETE /agents/{id}/keys/{key_id}': 'admin',
  'POST /agents/{id}/push-secret': ['admin', 'receive'],
  'POST /agents/{id}/test-event': ['admin', 'send'],
  'GET /agents/{id}/events': ['admin', 'receive'],
  'GET /agents/{id}/queue': ['admin', 'receive'],
  'POST /events': 'send',
  'POST /events/explain': 'send',
  'GET /events/{id}': 'send',
  'GET /delivery/poll': 'receive',
  'POST /delivery/ack': 'receive',
  'POST /delivery/nack': 'receive',
  'POST /delivery/extend': 'receive',
  'GET /delivery/stream': 'receive',
  'GET /delivery/dlq': 'receive',
  'POST /delivery/dlq/{id}/replay': 'receive',
  'GET /live': 'org_admin',
  'GET /stats': 'org_admin',
  'GET /audit': 'org_admin',
  'GET /events': 'org_admin',
  'POST /delivery/dlq/replay': 'receive',
  'POST /delivery/dlq/discard': 'receive',
  'GET /delivery/dlq/summary': 'receive',
  'GET /agents/{id}/interests': 'interests:read',
  'POST /agents/{id}/interests': 'interests:write',
  'DELETE /agents/{id}/interests/{interest_id}': 'interests:write',
  'GET /channels': 'channel:read',
  'POST /channels': 'channel:write',
  'PUT /channels/by-external-id/{external_id}': 'channel:write',
  'GET /channels/{id}': 'channel:read',
  'DELETE /channels/{id}': 'channel:write',
  'GET /channels/{id}/members': 'channel:read',
  'POST /channels/{id}/members': 'channel:write',
  'DELETE /channels/{id}/members/{participant_type}/{participant_id}': 'channel:write',
  'GET /channels/{id}/feeds': 'channel:read',
  'POST /channels/{id}/feeds': 'channel:write',
  'DELETE /channels/{id}/feeds/{feed_id}': 'channel:write',
  'GET /memories': 'memory:read',
  'POST /memories': 'memory:write',
  'GET /memories/{id}': 'memory:read',
  'PATCH /memories/{id}': 'memory:write',
  'DELETE /memories/{id}': 'memory:write',
  'POST /memories/search': 'memory:read',
  'POST /memories/{id}/promote': 'memory:write',
  'POST /memories/{id}/relationships': 'memory:write',
  'GET /memories/{id}/relationships': 'memory:read',
  'DELETE /memories/{id}/relationships/{rel_id}': 'memory:write',
  'POST /operator/tenants': 'operator',
  'GET /operator/tenants': 'operator',
  'POST /operator/tenants/{slug}/admin-keys': 'operator',
  'GET /operator/tenants/{slug}/admin-keys': 'operator',
  'DELETE /operator/tenants/{slug}/admin-keys/{key_id}': 'operator',
  'GET /operator/tenants/{slug}/settings': 'operator',
  'PATCH /operator/tenants/{slug}/settings': 'operator',
  'GET /operator/usage': 'operator',
  'GET /operator/tenants/{slug}/audit': 'operator',
}

const FOUNDATION = ['Authentication', 'Agents', 'API keys', 'Monitoring', 'Operator']
const ALL = Object.values(operations) as Operation[]
const nameOf = ({ method, path }: Operation): string => `${method} ${path}`
const isScope = (scope: string): scope is Scope => (SCOPES as readonly string[]).includes(scope)

test('[AUTH-9] [AUTH-10] the contract requires the specified scopes', () => {
  for (const operation of ALL) {
    const promised = PROMISED[nameOf(operation)]
    if (promised === undefined) {
      assert.equal(FOUNDATION.includes(operation.tag), false, `nobody promised anything about ${nameOf(operation)}`)
      continue
    }
    const [others, self] = [promised].flat() as [Needed, Needed?]
    assert.deepEqual([operation.access.scope, operation.access.self], [others, self], nameOf(operation))
  }
  const there = new Set(ALL.map(nameOf))
  assert.deepEqual(
    Object.keys(PROMISED).filter((name) => !there.has(name)),
    [],
  )
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  /** Returns status and error, without waiting for a body that may never end. */
  async function ask(operation: Operation, token: string, id = 'nobody'): Promise<Reply<unknown>> {
    const path =
      (operation.base === 'v1' ? '/v1' : '') + operation.path.replace('{id}', id).replace(/\{\w+\}/g, 'nobody')
    const hasBody = operation.body !== undefined || operation.consumes !== undefined
    const response = await fetch(service.url + path, {
      method: operation.method,
      headers: { authorization: `Bearer ${token}`, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
      ...(hasBody ? { body: '{' } : {}),
    })
    if (response.ok) {
      await response.body?.cancel()
      return { status: response.status, headers: response.headers, body: null, text: '' }
    }
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text), text }
  }

  const without = (...scopes: (string | undefined)[]): Scope[] => SCOPES.filter((scope) => !scopes.includes(scope))

  for (const operation of ALL.filter(({ access }) => isScope(access.scope))) {
    const { scope, or, self } = operation.access
    test(`[AUTH-8] [ERR-4] ${nameOf(operation)} without ${scope} is 403 and says so`, async () => {
      const agent = await tenant.agent({ scopes: without(scope, or) })
      const reply = await ask(operation, agent.token)
      assertError(reply, 'insufficient_scope', { required_scope: scope })
    })

    test(`[AUTH-9] [AUTH-10] ${nameOf(operation)} needs ${scope} and nothing else`, async () => {
      for (const enough of [scope, or].filter((s) => s !== undefined)) {
        const reply = await ask(operation, (await tenant.agent({ scopes: [enough] })).token)
        assert.ok(
          ![401, 403, 404, 500].includes(reply.status) || (reply.status === 404 && operation.path.includes('{')),
          `${reply.status} ${reply.text}`,
        )
      }
    })

    if (self !== undefined) {
      test(`[AUTH-8] [AUTH-10] ${nameOf(operation)} for oneself needs ${self === 'any' ? 'no scope' : self}`, async () => {
        // Every key has at least one scope, so take one that does not help here.
        const holder = await tenant.agent({ scopes: [self === 'any' ? 'memory:read' : self] })
        const own = await ask(operation, holder.token, holder.id)
        assert.ok(![401, 403, 404, 500].includes(own.status), `${own.status} ${own.text}`)
        const others = await ask(operation, holder.token, (await tenant.agent()).id)
        assertError(others, 'insufficient_scope', { required_scope: 'admin' })
        if (self === 'any') return
        const powerless = await tenant.agent({ scopes: without(scope, self) })
        assertError(await ask(operation, powerless.token, powerless.id), 'insufficient_scope', { required_scope: self })
      })
    }
  }

  for (const operation of ALL.filter(({ access }) => access.scope === 'org_admin')) {
    test(`[AUTH-8] [CON-1] ${nameOf(operation)} is for the org-admin, whatever scopes an agent holds`, async () => {
      const agent = await tenant.agent()
      assertError(await ask(operation, agent.token), 'insufficient_scope', { required_scope: 'org_admin' })
    })
  }

  for (const operation of ALL.filter(({ access }) => access.scope === 'any')) {
    test(`[AUTH-9] ${nameOf(operation)} needs a token and no scope`, async () => {
      const agent = await tenant.agent({ scopes: ['interests:read'] })
      assert.ok([200, 404].includes((await ask(operation, agent.token)).status))
      assertError(await ask(operation, 'nonsense'), 'authentication_failed')
    })
  }

  for (const operation of ALL.filter(({ base, access }) => base === 'v1' && access.scope !== 'public')) {
    test(`[AUTH-6] ${nameOf(operation)} needs a token`, async () => {
      const reply = await ask(operation, 'nonsense')
      assertError(reply, 'authentication_failed')
    })

    test(`[AUTH-11] ${nameOf(operation)} never lacks a scope of an org-admin`, async () => {
      const { status } = await ask(operation, tenant.admin)
      assert.ok(![401, 403, 500].includes(status), `${status}`)
    })
  }

  for (const operation of ALL.filter(({ access }) => access.scope === 'operator')) {
    test(`[TEN-5] ${nameOf(operation)} is the operator's alone`, async () => {
      for (const token of [tenant.admin, tenant.adminKey, (await tenant.agent()).token]) {
        const reply = await ask(operation, token)
        assertError(reply, 'authentication_failed')
      }
    })
  }
})
