// Lengths of time as text.

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
