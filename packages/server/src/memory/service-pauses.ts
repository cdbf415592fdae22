// Who does not ask the service of a model for a while, after it failed: searches go on without it meanwhile.
//
// A failure that may be about the text pauses the tenant alone, unless the last text of another tenant failed too and
// none succeeded in between. Any other failure pauses everybody. So no tenant can take the service from the searches of
// others.
import type { Clock } from '../kernel/clock.ts'

const PAUSE_MS = 5_000

interface ServicePauses {
  isPaused(tenantId: string): boolean
  succeeded(): void
  failed(tenantId: string, mayBeAboutText: boolean): void
}

export function makeServicePauses(clock: Clock): ServicePauses {
  let everybodyUntil = 0
  const untilOf = new Map<string, number>()
  return {
    isPaused: (tenantId) => clock.now() < Math.max(everybodyUntil, untilOf.get(tenantId) ?? 0),
    succeeded: () => untilOf.clear(),
    failed(tenantId, mayBeAboutText) {
      const now = clock.now()
      for (const [other, until] of untilOf) if (until <= now) untilOf.delete(other)
      untilOf.set(tenantId, now + PAUSE_MS)
      if (!mayBeAboutText || untilOf.size > 1) everybodyUntil = now + PAUSE_MS
    },
  }
}
