// When mailboxes were last polled on this node, and what the last poll left. The time is written to the store once a
// second at most. That a mailbox is empty is believed for half a second, unless something stirs in it: a receiver that
// takes five hundred deliveries a second looks twice.
import type { Mailbox, MailboxOutlook } from './sql.ts'

interface PollNote {
  written: number
  polled: number
  /** The last poll got all it asked for, so there may be more. */
  more: boolean
  /** It was empty when somebody looked, which holds until then in elapsed time. */
  emptyUntil: number
  /** When something in it becomes due by itself. */
  due: number | null
}

export interface PollNotes {
  /** Whether the poll is to be written down, and the note of it, for its result. */
  notice(mailbox: Mailbox, now: number): { write: boolean; last: { more: boolean } }
  lastPoll(mailbox: Mailbox): number | null
  /** Nothing was due in the mailbox, and nothing will be before `due`. */
  foundEmpty(mailbox: Mailbox, due: number | null, elapsed: number): void
  /** Whether a look would find nothing, and when something becomes due. */
  knownEmpty(mailbox: Mailbox, elapsed: number, now: number): MailboxOutlook | null
  /** Something may have come into these mailboxes; null is all of them. */
  stirred(recipientIds: readonly string[] | null): void
}

const NOTE_EVERY_MS = 1_000
const BELIEVED_MS = 500
const MAX_NOTED = 100_000

export function makePollNotes(): PollNotes {
  const notes = new Map<string, PollNote>()
  return {
    notice({ recipientId }, now) {
      const known = notes.get(recipientId)
      if (known !== undefined && now >= known.written && now - known.written < NOTE_EVERY_MS) {
        known.polled = now
        return { write: false, last: known }
      }
      if (notes.size >= MAX_NOTED) notes.clear()
      const { more = false, emptyUntil = 0, due = null } = known ?? {}
      const last = { written: now, polled: now, more, emptyUntil, due }
      notes.set(recipientId, last)
      return { write: true, last }
    },
    lastPoll: ({ recipientId }) => notes.get(recipientId)?.polled ?? null,
    foundEmpty({ recipientId }, due, elapsed) {
      const note = notes.get(recipientId)
      if (!note) return
      note.emptyUntil = elapsed + BELIEVED_MS
      note.due = due
    },
    knownEmpty({ recipientId }, elapsed, now) {
      const note = notes.get(recipientId)
      return note && elapsed < note.emptyUntil && (note.due === null || now < note.due)
        ? { due: note.due, isPaused: false }
        : null
    },
    stirred(recipientIds) {
      if (recipientIds === null) for (const note of notes.values()) note.emptyUntil = 0
      for (const recipientId of recipientIds ?? []) {
        const note = notes.get(recipientId)
        if (note) note.emptyUntil = 0
      }
    },
  }
}
