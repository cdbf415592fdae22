// Publishes a synthetic event about an agent through the same pipeline as every other; the agent always receives it.
import { randomUUID } from 'node:crypto'
import { isId } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { findAgent } from '../agents/sql.ts'
import { iso } from '../kernel/clock.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import type { Store } from '../store/db.ts'
import { prepareEvent } from './envelope.ts'
import type { Publish } from './publish.ts'
import type { PublishOutcome, Submission } from './submission.ts'

export async function sendTestEvent(
  store: Store,
  publish: Publish,
  caller: Principal,
  agentId: string,
  now: number,
  request: Pick<Submission, 'isClientGone' | 'record'>,
): Promise<PublishOutcome> {
  const agent = isId('agent', agentId) ? await findAgent(store, caller.tenantId, agentId) : undefined
  if (!agent) throw notFound('agent', agentId)
  if (agent.status !== 'active')
    throw ruleBroken('agent_inactive', 'An inactive agent receives no test event', { agent_id: agentId })
  const envelope = {
    specversion: '1.0',
    type: 'test.dashboard',
    source: 'dashboard.test-event',
    id: `test-${randomUUID()}`,
    time: iso(now),
    subject: agentId,
    datacontenttype: 'application/json',
    data: { message: 'A test event', agent_id: agentId },
  }
  const event = prepareEvent(envelope, JSON.stringify(envelope))
  const outcomes = await publish({
    tenantId: caller.tenantId,
    senderId: caller.id,
    events: [event],
    extraRecipientId: agentId,
    ...request,
  })
  return outcomes[0]!
}
