// Authenticates the caller by a bearer token, or by an API key in its place: most chat clients can be configured with
// one fixed header and cannot exchange a key.
import { operations as contract } from '@sensorium/contract'
import type { Identify } from '../auth/identify.ts'
import type { Principal } from '../auth/principal.ts'
import { unauthenticated } from '../kernel/failure.ts'
import type { CallOptions } from '../operations/call.ts'
import { NOBODY } from '../operations/call.ts'
import type { Operations } from '../operations/perform.ts'
import { resultOf } from '../operations/response.ts'

const API_KEY = /^ak_live_[A-Za-z0-9]{32}$/
const MAX_KEPT = 10_000

type Authenticate = (bearer: string, options: CallOptions) => Promise<Principal>

export function makeAuthenticate(operations: Operations, identify: Identify): Authenticate {
  /** The last token that each key was exchanged for. Revoking the key ends it like any other token. */
  const tokens = new Map<string, string>()

  async function exchange(apiKey: string, options: CallOptions): Promise<string> {
    const call = operations.perform(NOBODY, contract.exchangeKey, { body: { api_key: apiKey } }, options)
    const { access_token } = await resultOf<typeof contract.exchangeKey>(await call)
    tokens.delete(apiKey)
    tokens.set(apiKey, access_token)
    if (tokens.size > MAX_KEPT) tokens.delete(tokens.keys().next().value!)
    return access_token
  }

  return async (bearer, options) => {
    if (!API_KEY.test(bearer)) {
      const principal = await identify(bearer)
      if (!principal) throw unauthenticated()
      return principal
    }
    const kept = tokens.get(bearer)
    const principal = (kept && (await identify(kept))) || (await identify(await exchange(bearer, options)))
    if (!principal) throw unauthenticated()
    return principal
  }
}
