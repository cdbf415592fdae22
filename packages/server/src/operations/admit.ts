// Who may call an operation: the rate limit first, then the scope, before a byte of the body is read. Who is calling a
// door has found out before.
import type { Operation } from '@sensorium/contract'
import { holds, isOrgAdmin, type Principal } from '../auth/principal.ts'
import { insufficientScope, rateLimited, unauthenticated } from '../kernel/failure.ts'
import { OPERATOR, type CallOptions, type Input } from './call.ts'
import type { RateLimiter, Subject, Verdict } from './rate-limit.ts'

export interface AdmitTools {
  limiter: RateLimiter
  agentLimit: number | null
  tenantLimit: number | null
}

/** Throws or rejects whom it does not admit. Where nothing has to be waited for it does not leave the turn. */
export type Admit = (principal: Principal, input: Input, options: CallOptions) => Promise<void> | void

/** What is counted for a principal. Kept with it, so that the limiter need not look its windows up by name. */
export type SubjectsOf = (principal: Principal) => readonly Subject[]

export function makeSubjectsOf({ agentLimit, tenantLimit }: Omit<AdmitTools, 'limiter'>): SubjectsOf {
  const counted = new WeakMap<Principal, Subject[]>()
  return (principal) => {
    const known = counted.get(principal)
    if (known) return known
    const subjects: Subject[] = []
    counted.set(principal, subjects)
    const { tenantId, id } = principal
    if (agentLimit !== null) subjects.push({ tenantId, name: id, limit: agentLimit })
    if (tenantLimit !== null) subjects.push({ tenantId, name: 'tenant', limit: tenantLimit })
    return subjects
  }
}

export function makeAdmit({ access }: Operation, limiter: RateLimiter, subjectsOf: SubjectsOf): Admit {
  if (access.scope === 'public') return () => {}
  if (access.scope === 'operator') {
    return (principal) => {
      if (principal !== OPERATOR) throw unauthenticated()
    }
  }

  function checkScope(principal: Principal, { params }: Input): void {
    if (access.orgAdmin && !isOrgAdmin(principal)) throw insufficientScope(access.scope)
    if (access.scope === 'any' || holds(principal, access.scope) || (access.or && holds(principal, access.or))) return
    const self = access.self !== undefined && params?.['id'] === principal.id
    if (self && (access.self === 'any' || holds(principal, access.self!))) return
    throw insufficientScope(self ? access.self! : access.scope)
  }

  function judge(verdict: Verdict, principal: Principal, input: Input, options: CallOptions): void {
    // The refusal says the same itself.
    if (!verdict.allowed) throw rateLimited(verdict.resetSeconds, verdict.limit, limiter.windowSeconds)
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
