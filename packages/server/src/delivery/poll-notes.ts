// When mailboxes were last polled on this node, and what the last poll left in them. The time is written to the store
// once a second at most. The result of a look is trusted for half a second, so a receiver that takes five hundred
// deliveries a second looks twice a second. In between, the state of the mailbox is known without a look: every publish
// into it and every claim from it is noted here.
import type { Mailbox } from './sql.ts'

interface PollNote {
  written: number
  polled: number
  /** Something was put into the mailbox, or the last poll got all it asked for: there may be more. */
  more: boolean
  /** Nothing is due in the mailbox. This holds until the given elapsed time. */
  emptyUntil: number
  /** `due` is known until the given elapsed time. */
  outlookUntil: number
  /** When a lease or a wait in the mailbox ends and something becomes due without a new delivery. */
  due: number | null
  /** How often the mailbox has changed. */
  changes: number
}

export interface PollNotes {
  /** Notes a poll. Returns whether it has to be written to the store, and the note, for the result of the poll. */
  notice(mailbox: Mailbox, now: number): { write: boolean; last: PollNote }
  lastPoll(mailbox: Mailbox): number | null
  /** A look found nothing due in the mailbox, and nothing will be before `due`. */
  foundEmpty(mailbox: Mailbox, due: number | null, elapsed: number): void
  /** A claim that began when the mailbox had changed `changes` times has leased all that was due, until `until`. */
  tookAll(note: PollNote, changes: number, until: number, elapsed: number): void
  /** A delivery in the mailbox is leased until `until`. */
  leased(mailbox: Mailbox, until: number): void
  /** If it is known that nothing is due, returns when something will be; null if a look is needed. */
  knownEmpty(mailbox: Mailbox, elapsed: number, now: number): { due: number | null } | null
  /** Something may have come into these mailboxes, or any if null. `isAdded`: it has, and nothing else changed. */
  changed(recipientIds: readonly string[] | null, isAdded: boolean): void
}

const NOTE_EVERY_MS = 1_000
const BELIEVED_MS = 500
const MAX_NOTED = 100_000

const NOTHING_KNOWN = { more: false, emptyUntil: 0, outlookUntil: 0, due: null, changes: 0 }

function noteChange(note: PollNote, isAdded: boolean): void {
  note.changes++
  note.emptyUntil = 0
  if (isAdded) note.more = true
  else note.outlookUntil = 0
}

export function makePollNotes(): PollNotes {
  const notes = new Map<string, PollNote>()

  function leasedUntil(note: PollNote, until: number): void {
    if (note.due === null || until < note.due) note.due = until
  }

  return {
    notice({ recipientId }, now) {
      const known = notes.get(recipientId)
      if (known !== undefined && now >= known.written && now - known.written < NOTE_EVERY_MS) {
        known.polled = now
        return { write: false, last: known }
      }
      if (known === undefined && notes.size >= MAX_NOTED) notes.clear()
      const last = Object.assign(known ?? { ...NOTHING_KNOWN }, { written: now, polled: now })
      notes.set(recipientId, last)
      return { write: true, last }
    },
    lastPoll: ({ recipientId }) => notes.get(recipientId)?.polled ?? null,
    foundEmpty({ recipientId }, due, elapsed) {
      const note = notes.get(recipientId)
      if (!note) return
      note.emptyUntil = note.outlookUntil = elapsed + BELIEVED_MS
      note.due = due
      note.more = false
    },
    tookAll(note, changes, until, elapsed) {
      // What has come since may have been too late for the claim.
      if (note.changes !== changes) return
      note.more = false
      if (elapsed >= note.outlookUntil) return
      leasedUntil(note, until)
      note.emptyUntil = note.outlookUntil
    },
    leased({ recipientId }, until) {
      const note = notes.get(recipientId)
      if (note) leasedUntil(note, until)
    },
    knownEmpty({ recipientId }, elapsed, now) {
      const note = notes.get(recipientId)
      return note && elapsed < note.emptyUntil && (note.due === null || now < note.due) ? { due: note.due } : null
    },
    changed(recipientIds, isAdded) {
      if (recipientIds === null) for (const note of notes.values()) noteChange(note, false)
      for (const recipientId of recipientIds ?? []) {
        const note = notes.get(recipientId)
        if (note) noteChange(note, isAdded)
      }
    },
  }
}
