// The ids of imported lines that are noted, so that relationships of the same or a later import can name them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../../support/engines.ts'
import { serviceForSuite } from '../../support/service.ts'
import { aMemory, memoryCalls, orgAdmin, type Actor } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)

  /** Returns how many lines were created, updated, skipped and refused. */
  const imported = async (by: Actor, lines: object[]) => (await calls.imported(by, lines)).counts

  test('[KEP-9] of lines with one external id and many ids, 16 ids are noted for relationships', async () => {
    const agent = await (await service.tenant()).agent()
    const lines = Array.from({ length: 20 }, (_, i) => ({
      ...aMemory,
      id: `line-${i}`,
      external_id: 'same',
      tenant_id: 'elsewhere',
      agent_id: 'of-one-owner',
    }))
    assert.deepEqual(await imported(agent, lines), [1, 0, 19, 0])
    assert.deepEqual(await imported(agent, lines), [0, 0, 20, 0])
    const noted = await service.store.rows('select origin from memory_imports where agent_id = ?', [agent.id])
    // And whose lines they were.
    assert.equal(noted.length, 17)
    const other = await calls.make(agent, { title: 'Other' })
    const edge = (i: number) => ({
      source_memory_id: `line-${i}`,
      target_memory_id: other.id,
      relationship_type: 'supports',
    })
    assert.deepEqual(await imported(agent, [edge(15), edge(16)]), [1, 0, 0, 1])
  })

  test('[KEP-14] what was noted of a memory is erased with it', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const noted = () => service.store.rows('select origin from memory_imports where agent_id = ?', [agent.id])
    assert.deepEqual(await imported(agent, [{ ...aMemory, id: 'line' }]), [1, 0, 0, 0])
    assert.deepEqual(await noted(), [{ origin: 'line' }])
    const [memory] = (await calls.list(agent)).memories
    const { token } = await orgAdmin(service, tenant)
    assert.equal((await service.call(`DELETE /v1/memories/${memory!.id}?erase=true`, { token })).status, 204)
    assert.deepEqual(await noted(), [])
  })
})
