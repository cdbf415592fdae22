// Deleting a channel.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '../../src/auth/principal.ts'
import { deleteChannel } from '../../src/channels/delete.ts'
import { countedReads } from '../support/counted-reads.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite } from '../support/service.ts'
import { poll, publish } from '../events/tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[CON-20] a channel is deleted with its members and feeds, by an owner or an org-admin only', async () => {
    const tenant = await service.tenant()
    const owner = await tenant.agent()
    const member = await tenant.agent()
    const stranger = await tenant.agent()
    const make = async (type: string): Promise<string> => {
      const { body } = await service.call('POST /v1/channels', { token: owner.token, body: { name: 'C', type } })
      await service.call(`POST /v1/channels/${body.id}/members`, {
        token: owner.token,
        body: { participant_type: 'agent', participant_id: member.id, role: 'admin' },
      })
      await service.call(`POST /v1/channels/${body.id}/feeds`, {
        token: owner.token,
        body: { event_type_glob: `${type}.*` },
      })
      return body.id
    }
    const remove = (id: string, token: string) => service.call(`DELETE /v1/channels/${id}`, { token })
    const id = await make('private')
    assert.equal((await publish(service, stranger.token, { type: 'private.x' })).body.recipients, 2)
    assertError(await remove(id, member.token), 'business_rule_violation', { rule: 'role_required' })
    assertError(await remove(id, stranger.token), 'not_found')
    assertError(await remove(id, (await service.tenant()).admin), 'not_found')
    assertError(await remove('chn_nothing', owner.token), 'not_found')
    assert.equal((await remove(id, owner.token)).status, 204)
    assertError(await remove(id, owner.token), 'not_found')
    assertError(await service.call(`GET /v1/channels/${id}/members`, { token: tenant.admin }), 'not_found')
    assert.equal((await publish(service, stranger.token, { type: 'private.y' })).body.recipients, 0)
    assert.equal((await poll(service, member.token)).length, 1)
    const other = await make('open')
    assert.equal((await remove(other, tenant.admin)).status, 204)
    for (const table of ['channels', 'channel_members', 'channel_feeds'])
      assert.deepEqual(await service.store.rows(`select 1 from ${table} where tenant_id = ?`, [tenant.id]), [])
  })

  test('[CON-20] the filters of the feeds are not read: a thousand of them are megabytes', async () => {
    const tenant = await service.tenant()
    const { id, token } = await tenant.agent()
    const { body } = await service.call('POST /v1/channels', { token, body: { name: 'C', type: 'open' } })
    const filter_expression = `data.x == "${'€'.repeat(4_000)}"`
    const feed = { event_type_glob: 'x.*', filter_expression }
    assert.equal((await service.call(`POST /v1/channels/${body.id}/feeds`, { token, body: feed })).status, 201)
    const owner = { kind: 'agent', id, tenantId: tenant.id, scopes: new Set() } as unknown as Principal
    await service.store.tx(async (tx) => {
      const { db, most } = countedReads(tx)
      await deleteChannel(db, service.clock.now(), owner, body.id)
      assert.ok(most.atOnce > 0 && most.atOnce < 4_000, `${most.atOnce} bytes`)
    })
    assert.deepEqual(await service.store.rows('select 1 from channel_feeds where tenant_id = ?', [tenant.id]), [])
  })
})
