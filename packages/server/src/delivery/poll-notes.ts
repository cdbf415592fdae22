// When mailboxes were last polled on this node, and whether the last poll left something. The time is written to the
// store once a second at most.
import type { Mailbox } from './sql.ts'

interface PollNote {
  written: number
  polled: number
  /** The last poll got all it asked for, so there may be more. */
  more: boolean
}

export interface PollNotes {
  /** Whether the poll is to be written down, and the note of it, for its result. */
  notice(mailbox: Mailbox, now: number): { write: boolean; last: { more: boolean } }
  lastPoll(mailbox: Mailbox): number | null
}

const NOTE_EVERY_MS = 1_000
const MAX_NOTED = 100_000

export function makePollNotes(): PollNotes {
  const notes = new Map<string, PollNote>()
  return {
    notice({ tenantId, recipientId }, now) {
      const key = `${tenantId} ${recipientId}`
      const known = notes.get(key)
      if (known !== undefined && now >= known.written && now - known.written < NOTE_EVERY_MS) {
        known.polled = now
        return { write: false, last: known }
      }
      if (notes.size >= MAX_NOTED) notes.clear()
      const last = { written: now, polled: now, more: known?.more ?? false }
      notes.set(key, last)
      return { write: true, last }
    },
    lastPoll: ({ tenantId, recipientId }) => notes.get(`${tenantId} ${recipientId}`)?.polled ?? null,
  }
}
