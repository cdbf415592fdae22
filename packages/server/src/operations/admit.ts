// Decides whether a caller may call an operation: first the rate limit, then the scope, before a byte of the body is
// read. The transport has authenticated the caller before.
import type { Operation, TenantSettings } from '@sensorium/contract'
import { holds, isOrgAdmin, type Principal } from '../auth/principal.ts'
import { insufficientScope, unauthenticated } from '../kernel/failure.ts'
import type { Config } from '../config.ts'
import { refuseOver, type RateLimiter, type Subject, type Verdict } from '../limits/rate-limit.ts'
import type { SettingsOf } from '../tenants/settings.ts'
import { OPERATOR, type CallOptions, type Input } from './call.ts'

export interface AdmitTools {
  limiter: RateLimiter
  limitsOf: LimitsOf
}

/** How many requests an agent and its whole tenant may make in a window; null means no limit. */
export interface Limits {
  agent: number | null
  tenant: number | null
}

/** Returns the current limits in a tenant: the same object until they change. */
export type LimitsOf = (tenantId: string) => Limits

export const NO_LIMITS: Limits = { agent: null, tenant: null }

/** Limits come from the tenant's settings, or from the environment if a setting is absent. */
export function makeLimitsOf({ rateLimitAgent, rateLimitTenant }: Config, settingsOf: SettingsOf): LimitsOf {
  const known = new WeakMap<TenantSettings, Limits>()
  const either = (setting: number | 'off' | null, otherwise: number | null): number | null =>
    setting === null ? otherwise : setting === 'off' ? null : setting
  return (tenantId) => {
    const settings = settingsOf(tenantId)
    let limits = known.get(settings)
    if (!limits) {
      const { rate_limit_agent, rate_limit_tenant } = settings
      limits = { agent: either(rate_limit_agent, rateLimitAgent), tenant: either(rate_limit_tenant, rateLimitTenant) }
      known.set(settings, limits)
    }
    return limits
  }
}

/** Throws or rejects if the caller is not admitted. Returns synchronously if there is nothing to wait for. */
export type Admit = (principal: Principal, input: Input, options: CallOptions) => Promise<void> | void

/** Returns what counts a principal's requests. Cached, so that the limiter need not look up its windows by name. */
export type SubjectsOf = (principal: Principal) => readonly Subject[]

export function makeSubjectsOf({ limitsOf }: Pick<AdmitTools, 'limitsOf'>): SubjectsOf {
  const counted = new WeakMap<Principal, { limits: Limits; subjects: Subject[] }>()
  return (principal) => {
    const { tenantId, id } = principal
    const limits = limitsOf(tenantId)
    const known = counted.get(principal)
    if (known?.limits === limits) return known.subjects
    const subjects: Subject[] = []
    if (limits.agent !== null) subjects.push({ tenantId, name: id, limit: limits.agent })
    if (limits.tenant !== null) subjects.push({ tenantId, name: 'tenant', limit: limits.tenant })
    counted.set(principal, { limits, subjects })
    return subjects
  }
}

export function makeAdmit({ access }: Pick<Operation, 'access'>, limiter: RateLimiter, subjectsOf: SubjectsOf): Admit {
  if (access.scope === 'public') return () => {}
  if (access.scope === 'operator') {
    return (principal) => {
      if (principal !== OPERATOR) throw unauthenticated()
    }
  }

  function checkScope(principal: Principal, { params }: Input): void {
    if (access.scope === 'org_admin') {
      if (isOrgAdmin(principal)) return
      throw insufficientScope(access.scope)
    }
    if (access.scope === 'any' || holds(principal, access.scope) || (access.or && holds(principal, access.or))) return
    const self = access.self !== undefined && params?.['id'] === principal.id
    if (self && (access.self === 'any' || holds(principal, access.self!))) return
    throw insufficientScope(self ? access.self! : access.scope)
  }

  function judge(verdict: Verdict, principal: Principal, input: Input, options: CallOptions): void {
    // The failure states the limit itself, so `limited` is not called.
    refuseOver(verdict, limiter)
    options.limited?.(verdict)
    checkScope(principal, input)
  }

  return (principal, input, options) => {
    if (principal.tenantId === '') throw unauthenticated()
    const subjects = subjectsOf(principal)
    if (subjects.length === 0) return checkScope(principal, input)
    const verdict = limiter.take(subjects)
    return verdict instanceof Promise
      ? verdict.then((known) => judge(known, principal, input, options))
      : judge(verdict, principal, input, options)
  }
}
