// The time at which a key or a memory expires.
import { DAY_MS, iso, msOrNull } from './clock.ts'
import { invalid } from './failure.ts'

/** Returns an expiry that was sent; throws if it is not in the future. Null and undefined mean no expiry. */
export function expiryOf(time: string | null | undefined, now: number): number | null {
  const at = msOrNull(time)
  if (at !== null && at <= now) {
    throw invalid({
      field: 'expires_at',
      value: time,
      expected: 'a date-time in the future',
      example: iso(now + DAY_MS),
    })
  }
  return at
}
