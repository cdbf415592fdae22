// What a connector is to the rest of the house, whatever it speaks with its broker. A kind is one file that exports a
// `Connector`, and one line in `kinds.ts`.
//
// 1. A kind receives, and gives back what became of each message; it writes nothing itself.
// 2. A message is settled as accepted after `publish` resolved, never before.
import type { ConnectorKind, ConnectorState } from '@sensorium/contract'
import type { Publish } from '../../events/publish.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Mapper } from '../mapping.ts'
import type { Counts } from './sql.ts'

export interface Connector {
  kind: ConnectorKind
  /** The schemes of the URLs that are this kind's, each with its colon. */
  protocols: readonly string[]
  /** Those of them that are encrypted, and may be given certificates to trust. */
  encrypted: readonly string[]
  /** Begins to receive. It throws nothing: what goes wrong is the connector's state, and is tried again. */
  start(settings: ConnectorSettings, tools: ConnectorTools): RunningConnector
}

export interface ConnectorSettings {
  tenantId: string
  id: string
  source: string
  /** With user and password. */
  url: string
  /** The queue, topic or subscription, as the broker spells it. */
  address: string
  /** How many messages may be on their way to the store at once. */
  credit: number
  tlsCa: string | null
  mapper: Mapper
}

export interface ConnectorTools {
  publish: Publish
  clock: Clock
  maxEventBytes: number
  count(outcome: keyof Counts): void
}

export interface RunningConnector {
  state(): ConnectorState
  lastError(): string | null
  lastMessageAt(): number | null
  /** What was counted since it was last asked. */
  takeCounts(): Counts
  /** Stops receiving at once, finishes what is on its way to the store, and closes. */
  stop(): Promise<void>
}
