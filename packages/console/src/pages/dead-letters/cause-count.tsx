import type { DeadLetterSummary } from '@sensorium/client'

type Cause = DeadLetterSummary['by_reason'][number]

/**
 * Returns how many dead letters have another cause that contains this one. The service filters by a part of the cause,
 * in any case of its letters, so the filter of this cause shows those too.
 */
export function inLongerCauses(reason: string, all: readonly Cause[]): number {
  const part = reason.toLowerCase()
  return all
    .filter((other) => other.reason !== reason && other.reason.toLowerCase().includes(part))
    .reduce((sum, { count }) => sum + count, 0)
}

/** The count of a cause, and of the others that its filter shows with it. */
export function CauseCount({ count, longer }: { count: number; longer: number }) {
  if (longer === 0) return <span className="number">{count.toLocaleString()}</span>
  return (
    <span className="number nowrap" title="A filter by this cause also shows longer causes that contain it">
      {count.toLocaleString()} <span className="faint">+ {longer.toLocaleString()} in longer causes</span>
    </span>
  )
}
