// Exponential back-off with jitter, as a pure function: the caller supplies the randomness.

interface Backoff {
  firstMs: number
  maxMs: number
}

/** The wait before attempt `failures + 1`: doubling from `firstMs` up to `maxMs`, then spread over its upper half. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: () => number = Math.random): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)))
  return Math.round(full / 2 + (random() * full) / 2)
}
