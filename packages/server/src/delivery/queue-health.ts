// The health of a mailbox: how much is in it, and when it was last polled.
import { isoOrNull } from '../kernel/clock.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { countDeadLetters } from './count-dead-letters.ts'
import { openPages } from './open-deliveries.ts'
import { readLastPoll, type Mailbox } from './sql.ts'
import { PUBLIC_STATE, standingOf } from './standing.ts'

interface QueueHealth {
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
}

/** Counts the deliveries of a mailbox, in one pass over the open ones that pauses after each page. */
export async function queueHealth(
  db: Db,
  mailbox: Mailbox,
  now: number,
  polledHere: number | null,
  pause: Pause,
): Promise<QueueHealth> {
  const counts = { pending: 0, leased: 0, dead_lettered: 0 }
  let oldest = Infinity
  for await (const page of openPages(db, mailbox, pause)) {
    for (const delivery of page) {
      const state = PUBLIC_STATE[standingOf(delivery, now)]
      counts[state]++
      if (state === 'pending') oldest = Math.min(oldest, delivery.created_at)
    }
  }
  const dead = await countDeadLetters(db, mailbox, pause)
  const poll = await readLastPoll(db, mailbox)
  return {
    ...counts,
    dead_lettered: counts.dead_lettered + dead,
    oldest_pending_at: isoOrNull(counts.pending > 0 ? oldest : null),
    last_poll_at: isoOrNull(Math.max(poll?.last_poll_at ?? 0, polledHere ?? 0) || null),
  }
}
