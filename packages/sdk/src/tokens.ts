// Tokens: an API key is exchanged for one when it is first needed, again before it ends, and again when the service
// refuses it. Calls that need one at the same time share the exchange.
import type { Agent, TokenResponse } from './contract.ts'

/** A token is renewed when this part of its life is over. */
const RENEW_AFTER = 0.9
/** However short its life looks by a clock that is wrong: a token that is over is exchanged when it is refused. */
const SHORTEST_S = 30

export interface Tokens {
  /** The token to send now. */
  get(): Promise<string>
  /** The service refused this one. True when another can be had. */
  refused(token: string): boolean
  /** Who the key belongs to: an agent, or null for an org-admin. Undefined for a token that was given. */
  agent(): Promise<Agent | null | undefined>
  /** What the token may do, as it says itself. Undefined for a token that was given. */
  scopes(): Promise<readonly string[] | undefined>
}

export const givenToken = (token: string): Tokens => ({
  get: async () => token,
  refused: () => false,
  agent: async () => undefined,
  scopes: async () => undefined,
})

/**
 * The `scope` claim of a token. It is read, not verified: the service decides, and this only says what it will allow.
 */
export function scopesOf(token: string): readonly string[] {
  const [, payload = ''] = token.split('.')
  const { scope } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { scope?: string }
  return scope?.split(' ').filter((name) => name !== '') ?? []
}

interface Held {
  token: string
  renewAt: number
  agent: Agent | null
}

/** `performance.now` and not the wall clock: a clock that is set back must not make an old token look young. */
export function exchangedTokens(exchange: () => Promise<TokenResponse>, now = () => performance.now()): Tokens {
  let held: Held | null = null
  let exchanging: Promise<Held> | null = null

  async function renew(): Promise<Held> {
    const asked = now()
    const answer = await exchange()
    const seconds =
      (answer as { expires_in?: number }).expires_in ?? (Date.parse(answer.expires_at) - Date.now()) / 1000
    held = {
      token: answer.access_token,
      renewAt: asked + Math.max(SHORTEST_S, seconds || 0) * 1000 * RENEW_AFTER,
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
