// /delivery: the caller's own mailbox, and the health of an agent's queue.
import { MAX_POLL, operations } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import { requireAgent } from '../agents/get.ts'
import type { Identify } from '../auth/identify.ts'
import type { Principal } from '../auth/principal.ts'
import { makeAcknowledge } from '../delivery/acknowledge-together.ts'
import type { Claim } from '../delivery/claim.ts'
import { writeLapsed } from '../delivery/lapse.ts'
import type { LeaseChanges } from '../delivery/lease-changes.ts'
import { listBody, type Item } from '../delivery/long-payloads.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { queueHealth } from '../delivery/queue-health.ts'
import { recentEvents } from '../delivery/recent-events.ts'
import { acknowledge, extend, giveBack } from '../delivery/settle.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { PushHealth } from '../outbound/endpoint.ts'
import { unauthenticated } from '../kernel/failure.ts'
import type { JsonBody } from '../kernel/json-body.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import { Stop } from '../kernel/stop.ts'
import type { Store } from '../store/db.ts'
import { ok, type OperationResponse } from './response.ts'
import { own, read, write, type Binding } from './binding.ts'
import { pauseOf } from './pause-of.ts'

interface DeliveryOperationTools {
  store: Store
  claim: Claim
  identify: Identify
  wakeups: Wakeups
  leaseChanges: LeaseChanges
  now(): number
  policyOf: PolicyOf
  activity: Activity
  /** Returns how the endpoint of a push agent has been responding. */
  pushHealth(agentId: string): PushHealth
}

/** The signal of a caller that cannot report that it has disconnected. */
const NEVER = new Stop()

const mailboxOf = (principal: Principal): Mailbox => ({ tenantId: principal.tenantId, recipientId: principal.id })

const pollBody = (items: readonly Item[]): JsonBody =>
  listBody('{"deliveries":[', items, (count) => `],"count":${count}}`)

export function deliveryOperations(tools: DeliveryOperationTools): Binding[] {
  const { store, claim, identify, leaseChanges, now, policyOf, pushHealth } = tools
  const counting = makeStepTurns()
  const acknowledgeTogether = makeAcknowledge(store, tools, now)
  // If the key was revoked or expired, or the agent deactivated, while its poll waited, the poll gets nothing more.
  async function requireValidKey(principal: Principal): Promise<void> {
    if (!(await identify.stands(principal))) throw unauthenticated()
  }

  return [
    own(operations.pollDeliveries, async ({ principal, query, options }): Promise<OperationResponse> => {
      const mailbox = mailboxOf(principal)
      const limit = Math.min(query.limit ?? 10, MAX_POLL)
      const wait = query.wait ?? 0
      const found =
        wait > 0
          ? await claim.waiting(mailbox, limit, wait * 1000, options.signal?.() ?? NEVER, () =>
              requireValidKey(principal),
            )
          : await claim(mailbox, limit)
      const items = found.map(({ json }) => json)
      const putBack = (): Promise<void> => claim.putBack(mailbox, found)
      return { status: 200, putBack, ...(options.brief ? { items } : pollBody(items)) }
    }),

    own(operations.ackDeliveries, async ({ principal, body }, record) => {
      const mailbox = mailboxOf(principal)
      if (!record) return ok({ acknowledged: await acknowledgeTogether(mailbox, body.delivery_ids) })
      return store.tx(
        async (tx) => {
          const response = ok({ acknowledged: await acknowledge(tx, tools, mailbox, body.delivery_ids, now()) })
          await record(tx, response)
          return response
        },
        { caller: principal },
      )
    }),

    write(operations.nackDeliveries, async ({ principal, body }, tx) =>
      ok({ nacked: await giveBack(tx, tools, mailboxOf(principal), body, now(), policyOf(principal.tenantId)) }),
    ),

    write(operations.extendDeliveries, async ({ principal, body }, tx) =>
      ok({ extended: await extend(tx, leaseChanges, mailboxOf(principal), body.delivery_ids, body.seconds, now()) }),
    ),

    read(operations.listRecentEvents, async ({ principal, params, query, options }, db) => {
      await requireAgent(db, principal.tenantId, params.id)
      const items = await recentEvents(
        db,
        { tenantId: principal.tenantId, recipientId: params.id },
        Math.min(query.limit ?? 5, 100),
      )
      return { status: 200, ...(options.brief ? { items } : listBody('{"events":[', items, () => ']}')) }
    }),

    read(operations.getQueue, async (call, db) => {
      const { principal, params } = call
      const agent = await requireAgent(db, principal.tenantId, params.id)
      const at = now()
      await writeLapsed(tools, principal.tenantId, at)
      const mailbox = { tenantId: principal.tenantId, recipientId: params.id }
      const health = await queueHealth(db, mailbox, at, claim.lastPoll(mailbox), pauseOf(counting, call))
      return ok(agent.delivery_mode === 'push' ? { ...health, push: pushHealth(params.id) } : health)
    }),
  ]
}
