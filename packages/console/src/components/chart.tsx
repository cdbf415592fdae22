// A chart over time. The library is loaded with the first one.
import { lazy, Suspense } from 'react'
import type { Series } from './chart-canvas.tsx'

export type { Series } from './chart-canvas.tsx'

const Canvas = lazy(() => import('./chart-canvas.tsx'))

export interface ChartProps {
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
  return (
    <Suspense fallback={<div className="skeleton" style={{ height }} />}>
      <Canvas {...props} height={height} />
    </Suspense>
  )
}
