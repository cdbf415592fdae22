// The interface of a connector, whatever protocol it speaks with its broker. A kind of connector is one file that
// exports a `Connector`, and one line in `kinds.ts`.
//
// 1. A kind receives messages and reports the outcome of each to the broker; it writes nothing to the store itself.
// 2. A message is settled as accepted after `publish` resolved, never before.
import type { ConnectorKind, ConnectorState } from '@sensorium/contract'
import type { Publish } from '../../events/publish.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Mapper } from '../mapping.ts'
import type { MessageCounts } from './sql.ts'

export interface Connector {
  kind: ConnectorKind
  /** The URL schemes of this kind, each with its colon. */
  protocols: readonly string[]
  /** The schemes that are encrypted. Only these may be given certificates to trust. */
  encrypted: readonly string[]
  /** Starts receiving. Never throws: an error becomes the connector's state, and the connector retries. */
  start(settings: ConnectorSettings, tools: ConnectorTools): RunningConnector
}

export interface ConnectorSettings {
  tenantId: string
  id: string
  source: string
  /** Includes user and password. */
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
  count(outcome: keyof MessageCounts): void
}

export interface RunningConnector {
  state(): ConnectorState
  lastError(): string | null
  lastMessageAt(): number | null
  /** Returns the counts since the last call. */
  takeCounts(): MessageCounts
  /** Takes back counts that could not be stored. */
  returnCounts(taken: MessageCounts): void
  /** Stops receiving at once, finishes the messages that are on their way to the store, and closes. */
  stop(): Promise<void>
}
