// Shows times: relative to now on a terminal, exact everywhere else.
import { screen, type Screen } from './screen.ts'

const STEPS: readonly [seconds: number, unit: string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
]

export function when(time: string | null, on: Screen = screen): string {
  if (time === null) return 'never'
  if (on.columns === null) return time
  const seconds = Math.round((on.now() - Date.parse(time)) / 1000)
  if (!Number.isFinite(seconds)) return time
  const far = Math.abs(seconds)
  const [size, unit] = STEPS.find(([step]) => far >= step) ?? [1, 's']
  if (far < 1) return 'now'
  const amount = `${Math.floor(far / size)} ${unit}`
  return seconds < 0 ? `in ${amount}` : `${amount} ago`
}
