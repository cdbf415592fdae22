// A chart over time. The library is loaded with the first one.
import type { Series } from './chart-canvas.tsx'
import { loadedPart } from './part.tsx'

export type { Series } from './chart-canvas.tsx'

const Canvas = loadedPart('chart', () => import('./chart-canvas.tsx'))

interface ChartProps {
  /** Describes the chart for users of screen readers. */
  label: string
  /** Seconds since the epoch. */
  times: readonly number[]
  series: readonly Series[]
  height?: number
  /** Appended to each value, as in `12 /s`. */
  unit?: string
}

export function Chart({ height = 180, ...props }: ChartProps) {
  return <Canvas {...props} height={height} instead={<div className="skeleton" style={{ height }} />} />
}
