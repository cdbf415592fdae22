// Lengths of time, and moments, as text.

const UNITS = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3_600, name: 'h' },
  { seconds: 60, name: 'min' },
] as const

/** `12 s`, `3 min`, `5 h`, `2 d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const unit = UNITS.find((candidate) => seconds >= candidate.seconds)
  return unit === undefined ? `${seconds} s` : `${Math.floor(seconds / unit.seconds)} ${unit.name}`
}

/** Beyond this a number of days tells nobody anything. */
const DATED_MS = 300 * 86_400_000

export const isFar = (at: number, now: number): boolean => Math.abs(now - at) > DATED_MS

/** `just now`, `5 h ago`, `in 2 d`, or the date of a moment that is far away. */
export function relative(at: number, now: number): string {
  const past = now - at
  if (Math.abs(past) < 3_000) return 'just now'
  if (isFar(at, now)) return new Date(at).toLocaleDateString()
  return past > 0 ? `${span(past)} ago` : `in ${span(-past)}`
}

/** All units of a whole number of seconds: `1 min 30 s`. */
export function exactSpan(seconds: number): string {
  const parts: string[] = []
  let rest = seconds
  for (const { seconds: size, name } of [...UNITS, { seconds: 1, name: 's' }]) {
    if (rest >= size) parts.push(`${Math.floor(rest / size)} ${name}`)
    rest %= size
  }
  return parts.join(' ') || '0 s'
}
