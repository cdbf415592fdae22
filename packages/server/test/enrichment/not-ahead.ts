import type { SearchedAhead } from '../../src/enrichment/enrich.ts'

/** Every search is made when the delivery is polled. */
export const NOT_AHEAD: SearchedAhead = {
  take: async () => null,
  polled() {},
  searchFingerprint: async () => null,
  count() {},
}
