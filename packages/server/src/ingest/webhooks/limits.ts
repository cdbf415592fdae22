// How often an address may be refused, and how many events a tenant may be sent, in a window of time.
//
// 1. What did not verify counts for the client's address; what did counts for its tenant, beside what its agents ask.
// 2. Past its limit an address is refused at the tenants' addresses without any work. At the address of a webhook of
//    its own a signature that verifies is never refused for this: providers and proxies send for many from one address,
//    and nobody shall lock the others out.
import { rateLimited } from '../../kernel/failure.ts'
import type { UrlKind } from './verify.ts'

const REFUSED_WEBHOOKS = 300
export const REFUSED_WEBHOOKS_WINDOW_S = 60

interface Subject {
  /** Empty for a client address. */
  tenantId: string
  name: string
  limit: number
}

interface Verdict {
  allowed: boolean
  limit: number
  resetSeconds: number
}

/** As much of a rate limiter as is needed here. */
export interface Limiter {
  windowSeconds: number
  take(subjects: readonly Subject[]): Verdict | Promise<Verdict>
  peek(subjects: readonly Subject[]): Verdict
}

export interface WebhookLimits {
  /** Throws rate_limited before any work for an address that was refused too often. */
  begin(urlKind: UrlKind, address: string): void
  /** Counts a refusal; throws rate_limited where it is one too many. */
  refused(address: string): Promise<void>
  /** Counts an event of a tenant; throws rate_limited where it is one too many. */
  verified(tenantId: string): Promise<void>
}

export interface LimitTools {
  refusals: Limiter
  requests: Limiter
  /** Requests of a tenant in a window; null where there is no limit. */
  /** Requests of a tenant in a window; null is off. */
  tenantLimitOf(tenantId: string): number | null
}

export function makeWebhookLimits({ refusals, requests, tenantLimitOf }: LimitTools): WebhookLimits {
  const ofAddress = (address: string): Subject[] => [
    { tenantId: '', name: `webhooks from ${address}`, limit: REFUSED_WEBHOOKS },
  ]
  const check = ({ allowed, resetSeconds, limit }: Verdict, { windowSeconds }: Limiter): void => {
    if (!allowed) throw rateLimited(resetSeconds, limit, windowSeconds)
  }
  return {
    begin(urlKind, address) {
      if (urlKind === 'tenant') check(refusals.peek(ofAddress(address)), refusals)
    },
    async refused(address) {
      check(await refusals.take(ofAddress(address)), refusals)
    },
    async verified(tenantId) {
      const limit = tenantLimitOf(tenantId)
      if (limit !== null) check(await requests.take([{ tenantId, name: 'tenant', limit }]), requests)
    },
  }
}
