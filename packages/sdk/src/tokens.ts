// Tokens: an API key is exchanged for a token when one is first needed, again before the token expires, and again when
// the service refuses it. Calls that need a token at the same time share the exchange.
import type { Agent, TokenResponse } from './contract.ts'

/** A token is renewed after this fraction of its lifetime. */
const RENEW_AFTER = 0.9
/**
 * The shortest lifetime assumed, because a wrong clock can make a lifetime look shorter. A token that has expired is
 * renewed when the service refuses it.
 */
const MIN_LIFETIME_S = 30

export interface Tokens {
  /** The token to send now. */
  get(): Promise<string>
  /** Reports that the service refused this token. Returns whether another one can be obtained. */
  refused(token: string): boolean
  /** The agent that the key belongs to, or null for an org-admin. Undefined if the caller supplied the token. */
  agent(): Promise<Agent | null | undefined>
  /** The scopes that the token claims. Undefined if the caller supplied the token. */
  scopes(): Promise<readonly string[] | undefined>
}

/** Throws if no header can carry the token, in words that do not contain it. */
export function fixedToken(token: string): Tokens {
  try {
    new Headers({ authorization: `Bearer ${token}` })
  } catch {
    throw new TypeError('no header can carry the token')
  }
  return {
    get: async () => token,
    refused: () => false,
    agent: async () => undefined,
    scopes: async () => undefined,
  }
}

/**
 * Returns the `scope` claim of a token. It is read, not verified: the service decides, and this only shows what it will
 * allow.
 */
function scopesOf(token: string): readonly string[] {
  const [, payload = ''] = token.split('.')
  const { scope } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { scope?: string }
  return scope?.split(' ').filter((name) => name !== '') ?? []
}

interface Held {
  token: string
  renewAt: number
  agent: Agent | null
}

/** Returns the lifetime of a token in seconds. A service of release 1.0.0 sends no `expires_in`. */
const lifetimeOf = ({ expires_in, expires_at }: Pick<TokenResponse, 'expires_at'> & { expires_in?: number }): number =>
  expires_in ?? (Date.parse(expires_at) - Date.now()) / 1000

/** Uses `performance.now`, not the wall clock: a clock that is set back must not make an old token look young. */
export function tokensFromKey(exchange: () => Promise<TokenResponse>, now = () => performance.now()): Tokens {
  let held: Held | null = null
  let exchanging: Promise<Held> | null = null

  async function renew(): Promise<Held> {
    const asked = now()
    const answer = await exchange()
    held = {
      token: answer.access_token,
      renewAt: asked + Math.max(MIN_LIFETIME_S, lifetimeOf(answer) || 0) * 1000 * RENEW_AFTER,
      agent: answer.agent,
    }
    return held
  }

  function current(): Promise<Held> {
    if (held && now() < held.renewAt) return Promise.resolve(held)
    exchanging ??= renew().finally(() => (exchanging = null))
    return exchanging
  }

  return {
    get: async () => (await current()).token,
    refused(token) {
      if (held?.token === token) held = null
      return true
    },
    agent: async () => (await current()).agent,
    scopes: async () => scopesOf((await current()).token),
  }
}
