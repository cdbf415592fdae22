// The state and counts of a running connector, for every kind of connector.
import type { ConnectorState } from '@sensorium/contract'
import type { Counts } from './sql.ts'

export interface Progress {
  state: ConnectorState
  lastError: string | null
  lastMessageAt: number | null
  add(outcome: keyof Counts): void
  /** Returns the counts since the last call. */
  takeCounts(): Counts
}

const none = (): Counts => ({ received: 0, accepted: 0, duplicates: 0, released: 0, rejected: 0 })

export function makeProgress(count: (outcome: keyof Counts) => void): Progress {
  let counts = none()
  return {
    state: 'starting',
    lastError: null,
    lastMessageAt: null,
    add(outcome) {
      counts[outcome]++
      count(outcome)
    },
    takeCounts() {
      const taken = counts
      counts = none()
      return taken
    },
  }
}
