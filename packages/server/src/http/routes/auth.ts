// /auth/token: the one public operation. Failed exchanges are counted by client address, so that keys cannot be guessed at speed.
import { operations } from '@sensorium/contract'
import { exchangeKey } from '../../auth/exchange.ts'
import type { KeyTools } from '../../auth/keys.ts'
import { Failure, rateLimited } from '../../kernel/failure.ts'
import type { Store } from '../../store/db.ts'
import { ok } from '../answer.ts'
import type { RateLimiter, Subject } from '../rate-limit.ts'
import { own, type Route } from '../route.ts'

export const FAILED_EXCHANGES = 30
export const FAILED_EXCHANGES_WINDOW_S = 60

export const authRoutes = (store: Store, tools: KeyTools, failures: RateLimiter): Route[] => [
  own(operations.exchangeKey, async ({ body, address }) => {
    const subject: Subject[] = [{ tenantId: '', name: `address ${address}`, limit: FAILED_EXCHANGES }]
    const verdict = failures.peek(subject)
    if (!verdict.allowed) throw rateLimited(verdict.resetSeconds, verdict.limit, failures.windowSeconds)
    try {
      return ok(await store.tx((tx) => exchangeKey(tx, tools, body.api_key)))
    } catch (error) {
      if (error instanceof Failure && error.code === 'authentication_failed') await failures.take(subject)
      throw error
    }
  }),
]
