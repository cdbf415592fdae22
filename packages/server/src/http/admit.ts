// Who may pass: authentication, rate limit, scope, in this order, before a byte of the body is read.
import type { Operation } from '@sensorium/contract'
import type { Identify } from '../auth/identify.ts'
import { holds, type Principal } from '../auth/principal.ts'
import { insufficientScope, notFound, rateLimited, unauthenticated } from '../kernel/failure.ts'
import { sameSecret } from '../kernel/secrets.ts'
import type { Exchange } from './exchange.ts'
import type { RateLimiter, Subject, Verdict } from './rate-limit.ts'

export interface AdmitTools {
  identify: Identify
  limiter: RateLimiter
  agentLimit: number | null
  tenantLimit: number | null
  operatorToken: string | null
}

/** Stands for whoever needs no principal: the public, and the operator. */
export const NOBODY: Principal = { kind: 'agent', id: '', tenantId: '', keyId: '', scopes: new Set(), teamId: null }
export const OPERATOR: Principal = { ...NOBODY, id: 'operator' }

/** Throws or rejects who may not pass, and says in the exchange who passed. */
export type Admit = (exchange: Exchange) => Promise<void> | void

function bearer(exchange: Exchange): string {
  const header = exchange.headers.authorization
  // The scheme is case-insensitive; one space, one token, nothing else.
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ')
    throw unauthenticated()
  return header.slice(7)
}

export function makeAdmit(operation: Operation, tools: AdmitTools): Admit {
  const { access } = operation
  if (access.scope === 'public') return (exchange) => void (exchange.principal = NOBODY)
  if (access.scope === 'operator') return (exchange) => admitOperator(exchange, tools.operatorToken)
  const { identify, limiter } = tools

  const counted = new WeakMap<Principal, Subject[]>()
  const subjectsOf = (principal: Principal): Subject[] => {
    const known = counted.get(principal)
    if (known) return known
    const subjects: Subject[] = []
    counted.set(principal, subjects)
    if (tools.agentLimit !== null)
      subjects.push({ tenantId: principal.tenantId, name: principal.id, limit: tools.agentLimit })
    if (tools.tenantLimit !== null)
      subjects.push({ tenantId: principal.tenantId, name: 'tenant', limit: tools.tenantLimit })
    return subjects
  }

  function checkScope(principal: Principal, exchange: Exchange): void {
    if (access.scope === 'any' || holds(principal, access.scope) || (access.or && holds(principal, access.or))) return
    const self = access.self !== undefined && exchange.params['id'] === principal.id
    if (self && (access.self === 'any' || holds(principal, access.self!))) return
    throw insufficientScope(self ? access.self! : access.scope)
  }

  function limit(principal: Principal, verdict: Verdict, exchange: Exchange): void {
    // The refusal says the same itself.
    if (!verdict.allowed) throw rateLimited(verdict.resetSeconds, verdict.limit, limiter.windowSeconds)
    exchange.header('x-ratelimit-limit', String(verdict.limit))
    exchange.header('x-ratelimit-remaining', String(verdict.remaining))
    exchange.header('x-ratelimit-reset', String(verdict.resetSeconds))
    checkScope(principal, exchange)
  }

  function admitPrincipal(principal: Principal | null, exchange: Exchange): void | Promise<void> {
    if (!principal) throw unauthenticated()
    // For the log line, also when what follows refuses.
    exchange.principal = principal
    const subjects = subjectsOf(principal)
    if (subjects.length === 0) return checkScope(principal, exchange)
    const verdict = limiter.take(subjects)
    return verdict instanceof Promise
      ? verdict.then((v) => limit(principal, v, exchange))
      : limit(principal, verdict, exchange)
  }

  // The ordinary case, a token seen within the last half second, is answered without leaving the turn.
  return (exchange) => {
    const token = bearer(exchange)
    const known = identify.cached(token)
    return known
      ? admitPrincipal(known, exchange)
      : identify(token).then((principal) => admitPrincipal(principal, exchange))
  }
}

function admitOperator(exchange: Exchange, token: string | null): void {
  // Without a configured token the door is not there at all.
  if (token === null) throw notFound('path', exchange.path)
  if (!sameSecret(bearer(exchange), token)) throw unauthenticated()
  exchange.principal = OPERATOR
}
