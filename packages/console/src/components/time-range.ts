// The time range that a chart shows.

/** A chart of a few seconds is drawn as a minute: its first points are at the right, and the rest fills up later. */
const LEAST_SECONDS = 60

/** Returns from and to, in seconds since the epoch. Without any point, it is the minute that ends now. */
export function timeRange(points: number, first: number, last: number, now = Date.now() / 1000): [number, number] {
  if (points === 0) return [now - LEAST_SECONDS, now]
  // The library would show a single point as a whole day.
  const end = points > 1 ? last : first
  return [Math.min(first, end - LEAST_SECONDS), end]
}
