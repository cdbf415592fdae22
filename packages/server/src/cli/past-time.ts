// Reads a time in the past, as options such as `--since` take it: a time, or how long ago that was.
import { UsageError } from './command.ts'

const AGO = /^(\d+(?:\.\d+)?)([smhd])$/
const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** The service reads no earlier time. It also refuses what only begins like a time. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z')

/**
 * Returns the value of `--<option>` as the service takes it: `2h` becomes the time two hours before `now`, by the clock
 * of this machine, and a time stays as it was given.
 */
export function pastTime(
  option: string,
  options: Readonly<Record<string, string | undefined>>,
  now: number = Date.now(),
): string | undefined {
  const given = options[option]
  if (given === undefined || /^\d{4}-/.test(given)) return given
  const [, number, unit] = AGO.exec(given) ?? []
  const at = now - Number(number) * MS[unit ?? '']!
  if (at >= EARLIEST) return new Date(at).toISOString()
  const expected = 'a time such as 2026-01-01T00:00:00Z, or how long ago, such as 90s, 30m, 12h or 2d'
  throw new UsageError(`--${option} takes ${expected}, not ${given}`, expected)
}
