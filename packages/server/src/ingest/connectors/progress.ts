// The state and counts of a running connector, for every kind of connector.
import type { ConnectorState } from '@sensorium/contract'
import type { MessageCounts } from './sql.ts'

export interface ConnectorProgress {
  state: ConnectorState
  readonly lastError: string | null
  lastMessageAt: number | null
  /** Keeps what the operator is shown, null once all is well. A broker or a sender may have chosen the text. */
  noteError(text: string | null): void
  add(outcome: keyof MessageCounts): void
  /** Returns the counts since the last call. */
  takeCounts(): MessageCounts
  /** Takes back counts that could not be stored. */
  returnCounts(taken: MessageCounts): void
}

const LONGEST_ERROR = 500

const none = (): MessageCounts => ({ received: 0, accepted: 0, duplicates: 0, released: 0, rejected: 0 })

export function makeConnectorProgress(count: (outcome: keyof MessageCounts) => void): ConnectorProgress {
  let counts = none()
  let lastError: string | null = null
  return {
    state: 'starting',
    lastMessageAt: null,
    get lastError() {
      return lastError
    },
    noteError(text) {
      // PostgreSQL stores no NUL in a text: the state could not be written, and the lease would be lost.
      lastError = text === null ? null : text.slice(0, LONGEST_ERROR).replaceAll('\0', '')
    },
    add(outcome) {
      counts[outcome]++
      count(outcome)
    },
    takeCounts() {
      const taken = counts
      counts = none()
      return taken
    },
    returnCounts(taken) {
      for (const outcome of Object.keys(taken) as (keyof MessageCounts)[]) counts[outcome] += taken[outcome]
    },
  }
}
