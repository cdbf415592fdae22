// Decides whether a caller may call an operation: first the rate limit, then the scope, before a byte of the body is
// read. The transport has authenticated the caller before.
import type { Operation } from '@sensorium/contract'
import { holds, isOrgAdmin, type Principal } from '../auth/principal.ts'
import { insufficientScope, unauthenticated } from '../kernel/failure.ts'
import type { Limits, LimitsOf } from '../limits/limits-of.ts'
import { refuseOver, type RateLimiter, type Subject, type Verdict } from '../limits/rate-limit.ts'
import { OPERATOR, type CallOptions, type Input } from './call.ts'

export interface AdmitTools {
  limiter: RateLimiter
  limitsOf: LimitsOf
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
