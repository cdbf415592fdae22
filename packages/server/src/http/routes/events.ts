// /events: publish, trace, explain; and the test event of an agent.
import { operations } from '@sensorium/contract'
import type { PreparedEvent } from '../../events/envelope.ts'
import { explainEvent } from '../../events/explain.ts'
import type { Outcome, Publish } from '../../events/publish.ts'
import { readReceipts } from '../../events/receipts.ts'
import { sendTestEvent } from '../../events/test-event.ts'
import type { Principal } from '../../auth/principal.ts'
import { Failure } from '../../kernel/failure.ts'
import { withExactNumbers } from '../../kernel/json.ts'
import type { Router } from '../../routing/router.ts'
import type { Store } from '../../store/db.ts'
import { ok, type Answer } from '../answer.ts'
import { BATCH_TYPE, readBatch, readEvent } from '../cloud-events.ts'
import { refusal } from '../perform.ts'
import { own, read, type Route } from '../route.ts'

export interface EventRouteTools {
  store: Store
  publish: Publish
  router: Router
  now(): number
  maxEventBytes: number
  maxAttempts: number
  maySeeChannel(principal: Principal, channelId: string): Promise<boolean>
}

const shown = (outcome: Exclude<Outcome, { status: 'refused' }>): object =>
  outcome.status === 'accepted'
    ? { event_id: outcome.eventId, status: 'accepted', recipients: outcome.recipients }
    : { event_id: outcome.eventId, status: 'duplicate' }

export function answerOf(outcome: Outcome): Answer {
  if (outcome.status === 'refused') return refusal(outcome.failure)
  return { status: outcome.status === 'accepted' ? 202 : 200, json: shown(outcome), resourceId: outcome.eventId }
}

const shownFailure = ({ code, message, details }: Failure, requestId: string): object => ({
  error: { code, message, request_id: requestId, details },
})

// A filter is to see the numbers that a publish would show it.
const exact = <B>(body: B, raw: Buffer): B => withExactNumbers(raw.toString('utf8'), body) as B

export function eventRoutes({
  store,
  publish,
  router,
  now,
  maxEventBytes,
  maxAttempts,
  maySeeChannel,
}: EventRouteTools): Route[] {
  return [
    own(operations.publishEvent, async ({ principal, headers, mediaType, raw, requestId }, remember) => {
      const { tenantId, id: senderId } = principal
      if (mediaType !== BATCH_TYPE) {
        const [outcome] = await publish({
          tenantId,
          senderId,
          events: [readEvent(headers, mediaType, raw)],
          ...(remember ? { remember: (tx, outcomes) => remember(tx, answerOf(outcomes[0]!)) } : {}),
        })
        return answerOf(outcome!)
      }
      const items = readBatch(raw, maxEventBytes)
      const events = items.filter((item): item is PreparedEvent => !(item instanceof Failure))
      const answer = (outcomes: readonly Outcome[]): Answer => {
        const left = [...outcomes]
        const results = items.map((item) => {
          const outcome: Outcome = item instanceof Failure ? { status: 'refused', failure: item } : left.shift()!
          return outcome.status === 'refused' ? shownFailure(outcome.failure, requestId) : shown(outcome)
        })
        return ok({ results })
      }
      if (events.length === 0) return answer([])
      const outcomes = await publish({
        tenantId,
        senderId,
        events,
        ...(remember ? { remember: (tx, given) => remember(tx, answer(given)) } : {}),
      })
      return answer(outcomes)
    }),

    read(operations.getEvent, async ({ principal, params }, db) => ({
      status: 200,
      text: await readReceipts(db, principal, params.id, now(), maxAttempts, (channelId) =>
        maySeeChannel(principal, channelId),
      ),
    })),

    read(operations.explainEvent, async ({ principal, body, raw }, db) =>
      ok(
        await explainEvent(db, router, principal.tenantId, exact(body, raw), (channelId) =>
          maySeeChannel(principal, channelId),
        ),
      ),
    ),

    own(operations.sendTestEvent, async ({ principal, params }, remember) => {
      const answer = (outcome: Outcome): Answer =>
        outcome.status === 'refused'
          ? refusal(outcome.failure)
          : { status: 202, json: { event_id: outcome.eventId }, resourceId: outcome.eventId }
      return answer(
        await sendTestEvent(
          store,
          publish,
          principal,
          params.id,
          now(),
          remember ? (tx, [outcome]) => remember(tx, answer(outcome!)) : null,
        ),
      )
    }),
  ]
}
