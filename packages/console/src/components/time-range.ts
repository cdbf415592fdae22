// Which stretch of time a chart shows.

/** A chart of a few seconds is drawn as a minute: its first points are at the right, and the rest fills up. */
const LEAST_SECONDS = 60

/** From and to, in seconds since the epoch; of no point at all the minute that ends now. */
export function timeRange(points: number, first: number, last: number, now = Date.now() / 1000): [number, number] {
  if (points === 0) return [now - LEAST_SECONDS, now]
  // Of a single point the library makes a whole day.
  const end = points > 1 ? last : first
  return [Math.min(first, end - LEAST_SECONDS), end]
}
