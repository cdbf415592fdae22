// Who may pass: authentication, rate limit, scope, in this order, before a byte of the body is read.
import type { Operation } from '@sensorium/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identify } from '../auth/identify.ts'
import { holds, type Principal } from '../auth/principal.ts'
import { insufficientScope, notFound, rateLimited, unauthenticated } from '../kernel/failure.ts'
import { sameSecret } from '../kernel/secrets.ts'
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

export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Principal> | Principal

function bearer(request: FastifyRequest): string {
  const header = request.headers.authorization
  // The scheme is case-insensitive; one space, one token, nothing else.
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') throw unauthenticated()
  return header.slice(7)
}

export function makeAdmit(operation: Operation, tools: AdmitTools): Admit {
  const { access } = operation
  if (access.scope === 'public') return () => NOBODY
  if (access.scope === 'operator') return (request) => admitOperator(request, tools.operatorToken)
  const { identify, limiter } = tools

  const counted = new WeakMap<Principal, Subject[]>()
  const subjectsOf = (principal: Principal): Subject[] => {
    const known = counted.get(principal)
    if (known) return known
    const subjects: Subject[] = []
    counted.set(principal, subjects)
    if (tools.agentLimit !== null) subjects.push({ tenantId: principal.tenantId, name: principal.id, limit: tools.agentLimit })
    if (tools.tenantLimit !== null) subjects.push({ tenantId: principal.tenantId, name: 'tenant', limit: tools.tenantLimit })
    return subjects
  }

  function checkScope(principal: Principal, request: FastifyRequest): Principal {
    const self = access.self !== undefined && (request.params as { id?: string }).id === principal.id
    if (access.scope === 'any' || holds(principal, access.scope) || (access.or && holds(principal, access.or))) return principal
    if (self && (access.self === 'any' || holds(principal, access.self!))) return principal
    throw insufficientScope(self ? access.self! : access.scope)
  }

  function limit(principal: Principal, verdict: Verdict, request: FastifyRequest, reply: FastifyReply): Principal {
    reply.header('x-ratelimit-limit', verdict.limit)
    reply.header('x-ratelimit-remaining', verdict.remaining)
    reply.header('x-ratelimit-reset', verdict.resetSeconds)
    if (!verdict.allowed) throw rateLimited(verdict.resetSeconds, verdict.limit, limiter.windowSeconds)
    return checkScope(principal, request)
  }

  function admitPrincipal(principal: Principal | null, request: FastifyRequest, reply: FastifyReply): Principal | Promise<Principal> {
    if (!principal) throw unauthenticated()
    // For the log line, also when what follows refuses.
    request.principal = principal
    const subjects = subjectsOf(principal)
    if (subjects.length === 0) return checkScope(principal, request)
    const verdict = limiter.take(subjects)
    return verdict instanceof Promise ? verdict.then((v) => limit(principal, v, request, reply)) : limit(principal, verdict, request, reply)
  }

  // The ordinary case, a token seen within the last half second, is answered without leaving the turn.
  return (request, reply) => {
    const token = bearer(request)
    const known = identify.cached(token)
    return known ? admitPrincipal(known, request, reply) : identify(token).then((principal) => admitPrincipal(principal, request, reply))
  }
}

function admitOperator(request: FastifyRequest, token: string | null): Principal {
  // Without a configured token the door is not there at all.
  if (token === null) throw notFound('path', request.url.split('?')[0]!)
  if (!sameSecret(bearer(request), token)) throw unauthenticated()
  return OPERATOR
}
