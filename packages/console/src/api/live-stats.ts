// The counts of a live view, one entry a second. The stream is closed while no page shows it, so there may be gaps.
import type { LiveStats } from '@sensorium/client'

export type Count = 'events' | 'deliveries' | 'acknowledgements' | 'failures'

const KEPT_MS = 300_000
/** Rates are averaged over the last ten seconds: the rate of a single second jumps too much to be read. */
const RATE_MS = 10_000
/** Entries follow each other by the second, and clocks are corrected by less than this. */
const GAP_MS = 2_000

const timeOf = ({ at }: LiveStats): number => Date.parse(at)

/** Adds the newest entry, and drops what is too old to be drawn with it. */
export const addStats = (stats: readonly LiveStats[], added: LiveStats): LiveStats[] => [
  ...stats.filter((one) => timeOf(added) - timeOf(one) < KEPT_MS),
  added,
]

/** Returns the entries that a current rate is made of, whatever was counted before a gap. */
export function latestOf(stats: readonly LiveStats[]): LiveStats[] {
  const newest = stats.at(-1)
  return newest === undefined ? [] : stats.filter((one) => timeOf(newest) - timeOf(one) < RATE_MS)
}

/** Returns how many there were a second, or null if nothing was counted. */
export function rateOf(latest: readonly LiveStats[], count: Count): number | null {
  const seconds = latest.reduce((sum, one) => sum + one.seconds, 0)
  return seconds === 0 ? null : latest.reduce((sum, one) => sum + one[count], 0) / seconds
}

interface Point {
  /** Seconds since the epoch. */
  at: number
  /** Null in a gap. */
  counts: LiveStats | null
}

/** Returns the entries as points of a chart, with an empty one in each gap, which the line then does not cross. */
export function pointsOf(stats: readonly LiveStats[]): Point[] {
  return stats.flatMap((counts, index): Point[] => {
    const point = { at: timeOf(counts) / 1000, counts }
    const before = stats[index - 1]
    const began = timeOf(counts) - counts.seconds * 1000
    if (before === undefined || began - timeOf(before) <= GAP_MS) return [point]
    return [{ at: began / 1000, counts: null }, point]
  })
}
