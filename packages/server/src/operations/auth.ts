// /auth/token: the one operation of /v1 that needs no token. An exchange counts toward the limits of the agent that
// owns the key. Failed exchanges are counted by client address, so that keys cannot be guessed at speed. The key is
// looked up first, so that a valid key is never refused because of wrong ones from the same address.
import { networkOf } from '../kernel/addresses.ts'
import { operations } from '@sensorium/contract'
import { exchangeKey, findLiveKey } from '../auth/exchange.ts'
import type { KeyTools } from '../auth/keys.ts'
import { unauthenticated } from '../kernel/failure.ts'
import { refuseOver, type RateLimiter } from '../limits/rate-limit.ts'
import type { Store } from '../store/db.ts'
import type { SubjectsOf } from './admit.ts'
import { own, type Binding } from './binding.ts'
import { ok } from './response.ts'

const FAILED_EXCHANGES = 30
export const FAILED_EXCHANGES_WINDOW_S = 60

interface AuthOperationTools extends KeyTools {
  store: Store
  limiter: RateLimiter
  subjectsOf: SubjectsOf
  /** Counts failed exchanges. */
  failures: RateLimiter
}

export function authOperations(tools: AuthOperationTools): Binding[] {
  const { store, limiter, subjectsOf, failures } = tools

  return [
    own(operations.exchangeKey, async ({ body, options }) => {
      const key = await findLiveKey(store, tools, body.api_key)
      if (!key) {
        const name = `address ${networkOf(options.clientAddress ?? '')}`
        refuseOver(await failures.take([{ tenantId: '', name, limit: FAILED_EXCHANGES }]), failures)
        throw unauthenticated()
      }
      const subjects = subjectsOf(key.principal)
      if (subjects.length > 0) {
        const verdict = await limiter.take(subjects)
        refuseOver(verdict, limiter)
        options.limited?.(verdict)
      }
      return ok(await exchangeKey(store, tools, key))
    }),
  ]
}
