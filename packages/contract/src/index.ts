// The wire contract, once: the server validates with it, OpenAPI is generated from it, clients are typed by it.
import { agentOperations } from './agents.ts'
import { auditOperations } from './audit.ts'
import { channelOperations } from './channels.ts'
import { deadLetterOperations } from './dead-letters.ts'
import { deliveryOperations } from './deliveries.ts'
import { eventListOperations } from './event-list.ts'
import { eventOperations } from './events.ts'
import { ingestOperations } from './ingest.ts'
import { interestOperations } from './interests.ts'
import { keyOperations } from './keys.ts'
import { liveOperations } from './live.ts'
import { memoryOperations } from './memories.ts'
import { memoryKeepingOperations } from './memory-keeping.ts'
import { memoryTransferOperations } from './memory-transfer.ts'
import { operatorOperations } from './operator.ts'
import { outboundOperations } from './outbound.ts'
import { relationshipOperations } from './relationships.ts'

export * from './agents.ts'
export * from './audit.ts'
export * from './channels.ts'
export * from './client-types.ts'
export * from './dead-letters.ts'
export * from './delivered-event.ts'
export * from './deliveries.ts'
export * from './errors.ts'
export * from './example.ts'
export * from './event-list.ts'
export * from './events.ts'
export * from './ids.ts'
export * from './ingest.ts'
export * from './webhooks.ts'
export * from './interests.ts'
export * from './keys.ts'
export * from './live.ts'
export * from './memories.ts'
export * from './memory-keeping.ts'
export * from './memory-transfer.ts'
export * from './openapi.ts'
export * from './operation.ts'
export * from './operator.ts'
export * from './outbound.ts'
export * from './receipts.ts'
export * from './relationships.ts'
export * from './search-signals.ts'
export * from './rules.ts'
export * from './tags.ts'
export { Type, type Schema, type Static } from './shapes.ts'
export type { ObjectSchema, OptionalSchema } from './schema.ts'

export const operations = {
  ...agentOperations,
  ...keyOperations,
  ...eventOperations,
  ...eventListOperations,
  ...deliveryOperations,
  ...deadLetterOperations,
  ...outboundOperations,
  ...liveOperations,
  ...auditOperations,
  ...interestOperations,
  ...channelOperations,
  ...memoryOperations,
  ...memoryKeepingOperations,
  ...memoryTransferOperations,
  ...relationshipOperations,
  ...operatorOperations,
  ...ingestOperations,
} as const
