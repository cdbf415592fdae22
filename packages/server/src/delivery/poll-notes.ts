// When mailboxes were last polled on this node, and what the last poll left in them. The time is written to the store
// once a second at most. The result of a look is trusted for half a second, so a receiver that takes five hundred
// deliveries a second looks twice a second. In between, the state of the mailbox is known without a look: every publish
// into it and every claim from it is noted here.
import type { Mailbox } from './sql.ts'

interface PollNote {
  /** When a time of this mailbox was last written to the store. */
  writtenAt: number
  polledAt: number
  /** Something was put into the mailbox, or the last poll got all it asked for: there may be more. */
  mayHaveMore: boolean
  /** Nothing is due in the mailbox. This holds until the given elapsed time. */
  emptyUntil: number
  /** `due` is known until the given elapsed time. */
  dueKnownUntil: number
  /** When a lease or a wait in the mailbox ends and something becomes due without a new delivery. */
  due: number | null
  /** How often the mailbox has changed. */
  changes: number
}

export interface PollNotes {
  /** Notes a poll. Returns its note, for what the poll finds, and whether its time has to be written to the store. */
  polled(mailbox: Mailbox, now: number): { note: PollNote; isToWrite: boolean }
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

const NOTHING_KNOWN = { mayHaveMore: false, emptyUntil: 0, dueKnownUntil: 0, due: null, changes: 0 }

function noteChange(note: PollNote, isAdded: boolean): void {
  note.changes++
  note.emptyUntil = 0
  if (isAdded) note.mayHaveMore = true
  else note.dueKnownUntil = 0
}

export function makePollNotes(): PollNotes {
  const notes = new Map<string, PollNote>()

  function leasedUntil(note: PollNote, until: number): void {
    if (note.due === null || until < note.due) note.due = until
  }

  return {
    polled({ recipientId }, now) {
      const known = notes.get(recipientId)
      if (known !== undefined && now >= known.writtenAt && now - known.writtenAt < NOTE_EVERY_MS) {
        known.polledAt = now
        return { note: known, isToWrite: false }
      }
      if (known === undefined && notes.size >= MAX_NOTED) notes.clear()
      const note = Object.assign(known ?? { ...NOTHING_KNOWN }, { writtenAt: now, polledAt: now })
      notes.set(recipientId, note)
      return { note, isToWrite: true }
    },
    lastPoll: ({ recipientId }) => notes.get(recipientId)?.polledAt ?? null,
    foundEmpty({ recipientId }, due, elapsed) {
      const note = notes.get(recipientId)
      if (!note) return
      note.emptyUntil = note.dueKnownUntil = elapsed + BELIEVED_MS
      note.due = due
      note.mayHaveMore = false
    },
    tookAll(note, changes, until, elapsed) {
      // What has come since may have been too late for the claim.
      if (note.changes !== changes) return
      note.mayHaveMore = false
      if (elapsed >= note.dueKnownUntil) return
      leasedUntil(note, until)
      note.emptyUntil = note.dueKnownUntil
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
