// /auth/token: the one public operation. Failed exchanges are counted by client address, so that keys cannot be guessed
// at speed.
import { operations } from '@sensorium/contract'
import { exchangeKey } from '../auth/exchange.ts'
import type { KeyTools } from '../auth/keys.ts'
import { Failure, rateLimited } from '../kernel/failure.ts'
import type { Store } from '../store/db.ts'
import { ok } from './response.ts'
import type { RateLimiter, Subject, Verdict } from './rate-limit.ts'
import { own, type Binding } from './binding.ts'

export const FAILED_EXCHANGES = 30
export const FAILED_EXCHANGES_WINDOW_S = 60

export const authOperations = (store: Store, tools: KeyTools, failures: RateLimiter): Binding[] => [
  own(operations.exchangeKey, async ({ body, options }) => {
    const subject: Subject[] = [
      { tenantId: '', name: `address ${options.clientAddress ?? ''}`, limit: FAILED_EXCHANGES },
    ]
    const check = ({ allowed, resetSeconds, limit }: Verdict): void => {
      if (!allowed) throw rateLimited(resetSeconds, limit, failures.windowSeconds)
    }
    check(failures.peek(subject))
    try {
      return ok(await store.tx((tx) => exchangeKey(tx, tools, body.api_key)))
    } catch (error) {
      // Again: of many guesses at once, all may have passed before the first one failed.
      if (error instanceof Failure && error.code === 'authentication_failed') check(await failures.take(subject))
      throw error
    }
  }),
]
