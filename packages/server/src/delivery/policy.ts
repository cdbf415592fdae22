// How a delivery is treated: how long a lease lasts, how many attempts it has, how long a failed push waits.
//
// The environment gives the defaults, a tenant's settings may replace them, and an agent may have a push schedule of
// its own. Code that needs one of the three is given the policy that holds for the delivery.
import type { Config } from '../config.ts'
import { derived, type SettingsOf } from '../tenants/settings.ts'

export interface DeliveryPolicy {
  visibilityTimeoutMs: number
  /** Attempts of a delivery. After the last one, only an acknowledgement saves it from the dead letters. */
  maxAttempts: number
  /** The waits after failed pushes 1, 2, 3 and so on, in seconds; the last one repeats. */
  pushRetryS: readonly number[]
}

/** The policy of a tenant at this moment. */
export type PolicyOf = (tenantId: string) => DeliveryPolicy

/** Returns a tenant's policy: its settings, or the environment's where they are null. */
export const makePolicyOf = (
  { visibilityTimeoutMs, maxAttempts, pushRetryS }: Config,
  settingsOf: SettingsOf,
): PolicyOf =>
  derived(settingsOf, ({ visibility_timeout_s, max_attempts, push_retry_s }) => ({
    visibilityTimeoutMs: visibility_timeout_s === null ? visibilityTimeoutMs : visibility_timeout_s * 1000,
    maxAttempts: max_attempts ?? maxAttempts,
    pushRetryS: push_retry_s ?? pushRetryS,
  }))

/** Returns the policy of an agent, which may have its own push schedule. */
export const withPushSchedule = (policy: DeliveryPolicy, schedule: readonly number[] | null): DeliveryPolicy =>
  schedule === null ? policy : { ...policy, pushRetryS: schedule }
