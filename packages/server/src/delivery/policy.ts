// How a delivery is treated: how long a lease lasts, how many attempts it has, how long a failed push waits.
//
// The environment gives the defaults, a tenant's settings may replace them, and an agent may have a push schedule of its
// own. Whoever needs one of the three is given the policy that holds for the delivery.
import type { Config } from '../config.ts'

export interface DeliveryPolicy {
  visibilityTimeoutMs: number
  /** Hand-outs of a delivery; after the last only an acknowledgement saves it from the dead letters. */
  maxAttempts: number
  /** The waits after failed pushes 1, 2, 3 and so on, in seconds; the last one repeats. */
  pushRetryS: readonly number[]
}

/** The policy of a tenant at this moment. */
export type PolicyOf = (tenantId: string) => DeliveryPolicy

export const defaultPolicy = ({ visibilityTimeoutMs, maxAttempts, pushRetryS }: Config): DeliveryPolicy => ({
  visibilityTimeoutMs,
  maxAttempts,
  pushRetryS,
})

/** The same for an agent, which may have its own push schedule. */
export const withPushSchedule = (policy: DeliveryPolicy, schedule: readonly number[] | null): DeliveryPolicy =>
  schedule === null ? policy : { ...policy, pushRetryS: schedule }
