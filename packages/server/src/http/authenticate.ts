// Identifies the caller by the bearer token of a request, before anything else about the request is looked at.
import type { Operation } from '@sensorium/contract'
import type { Identify } from '../auth/identify.ts'
import type { Principal } from '../auth/principal.ts'
import { notFound, unauthenticated } from '../kernel/failure.ts'
import { sameSecret } from '../kernel/secrets.ts'
import { NOBODY, OPERATOR } from '../operations/call.ts'
import type { Exchange } from './exchange.ts'

export interface AuthenticateTools {
  identify: Identify
  operatorToken: string | null
}

/**
 * Throws or rejects if the caller cannot be identified. Synchronous in the ordinary case, a token seen a moment ago.
 */
type Authenticate = (exchange: Exchange) => Principal | Promise<Principal>

export function bearer(exchange: Exchange): string {
  if (exchange.bearer === null) throw unauthenticated()
  return exchange.bearer
}

/** Rejects if the key of a caller that was identified before has ended since. Its token may have run out. */
type RequireStanding = (exchange: Exchange) => Promise<void> | undefined

const API_KEY = 'ak_live_'
const EXCHANGE_IT =
  'This is an API key and no access token: exchange it at POST /v1/auth/token and send the access_token of the response'

function known(principal: Principal | null): Principal {
  if (!principal) throw unauthenticated()
  return principal
}

/** A body may take a minute to arrive, and a response as long as it is read: a revoked key must not go on meanwhile. */
export function makeRequireStanding({ access }: Operation, { identify }: AuthenticateTools): RequireStanding {
  if (access.scope === 'public' || access.scope === 'operator') return () => undefined
  return (exchange) => {
    const { principal } = exchange
    if (!principal || identify.cached(bearer(exchange)) !== null) return undefined
    return identify.stands(principal).then((stands) => {
      if (!stands) throw unauthenticated()
    })
  }
}

export function makeAuthenticate({ access }: Operation, { identify, operatorToken }: AuthenticateTools): Authenticate {
  if (access.scope === 'public') return () => NOBODY
  if (access.scope === 'operator') {
    return (exchange) => {
      // Without a configured token the operator's API does not exist at all.
      if (operatorToken === null) throw notFound('path', exchange.path)
      if (!sameSecret(bearer(exchange), operatorToken)) throw unauthenticated()
      return OPERATOR
    }
  }

  return (exchange) => {
    const token = bearer(exchange)
    if (token.startsWith(API_KEY)) throw unauthenticated(EXCHANGE_IT)
    return exchange.cachedPrincipal ?? identify.cached(token) ?? identify(token).then(known)
  }
}
