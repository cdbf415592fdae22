import assert from 'node:assert/strict'
import type { Service } from '../../support/service.ts'
import { memoryCalls } from '../tools.ts'

/** A tenant with an agent that sees six of its eight memories. */
export async function filledTenant(service: Service) {
  const calls = memoryCalls(service)
  const tenant = await service.tenant()
  const agent = await tenant.agent({ team: 'blue' })
  const other = await tenant.agent()
  const made = [
    await calls.make(agent, { title: 'One', external_id: 'first', confidence: 0.25 }),
    await calls.make(agent, { title: 'Two', metadata: { long: 'x'.repeat(20_000) }, project_id: 'p' }),
    await calls.make(other, { title: 'Three', scope: 'institutional' }),
    await calls.make(other, { title: 'Four', scope: 'team', team_id: 'blue' }),
  ]
  await calls.make(other, { title: 'Hidden' })
  const gone = await calls.make(agent, { title: 'Gone' })
  await calls.forget(agent, gone.id)
  await service.clock.advance(60_000)
  made.push(await calls.make(agent, { title: 'Five', type: 'episodic', source_url: 'https://example.com/' }))
  const [one, two, three] = made
  assert.equal((await calls.relate(agent, one!.id, two!.id, { strength: 0.5, metadata: { why: 1 } })).status, 201)
  assert.equal((await calls.relate(other, three!.id, one!.id)).status, 404)
  assert.equal((await calls.relate(agent, one!.id, three!.id, { relationship_type: 'contradicts' })).status, 201)
  return { tenant, agent, other, made }
}
