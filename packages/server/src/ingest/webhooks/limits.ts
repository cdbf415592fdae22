// Limits how often a client address may be refused, and how many events a tenant may be sent, in a window of time.
//
// 1. A request that does not verify counts against the client's address. One that verifies counts against its tenant,
//    together with the requests of the tenant's agents.
// 2. An address past its limit is refused at tenant URLs without any work. At the URL of a single webhook, a signature
//    that verifies is never refused for this reason: providers and proxies send for many customers from one address,
//    and no sender may lock out the others.
import { refuseOver, type RateLimiter, type Subject } from '../../limits/rate-limit.ts'
import type { UrlKind } from './verify.ts'

const REFUSED_WEBHOOKS = 300
export const REFUSED_WEBHOOKS_WINDOW_S = 60

export interface WebhookLimits {
  /** Throws rate_limited, before any work, for an address that was refused too often. */
  begin(urlKind: UrlKind, address: string): void
  /** Counts a refusal. Throws rate_limited if it is one too many. */
  refused(address: string): Promise<void>
  /** Counts an event of a tenant. Throws rate_limited if it is one too many. */
  verified(tenantId: string): Promise<void>
}

interface LimitTools {
  refusals: RateLimiter
  requests: RateLimiter
  /** How many requests a tenant may make in a window; null if there is no limit. */
  tenantLimitOf(tenantId: string): number | null
}

export function makeWebhookLimits({ refusals, requests, tenantLimitOf }: LimitTools): WebhookLimits {
  const ofAddress = (address: string): Subject[] => [
    { tenantId: '', name: `webhooks from ${address}`, limit: REFUSED_WEBHOOKS },
  ]
  return {
    begin(urlKind, address) {
      if (urlKind === 'tenant') refuseOver(refusals.peek(ofAddress(address)), refusals)
    },
    async refused(address) {
      refuseOver(await refusals.take(ofAddress(address)), refusals)
    },
    async verified(tenantId) {
      const limit = tenantLimitOf(tenantId)
      if (limit !== null) refuseOver(await requests.take([{ tenantId, name: 'tenant', limit }]), requests)
    },
  }
}
