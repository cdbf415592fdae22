// A chart over time. The library is loaded with the first one.
import { lazy, Suspense } from 'react'
import type { Series } from './chart-canvas.tsx'

export type { Series } from './chart-canvas.tsx'

const Canvas = lazy(() => import('./chart-canvas.tsx'))

export interface ChartProps {
  /** Says what it shows, for who cannot see it. */
  label: string
  /** Seconds since the epoch. */
  times: readonly number[]
  series: readonly Series[]
  height?: number
  /** How a value is written: `12 /s`. */
  unit?: string
}

export function Chart({ height = 180, ...props }: ChartProps) {
  return (
    <Suspense fallback={<div className="skeleton" style={{ height }} />}>
      <Canvas {...props} height={height} />
    </Suspense>
  )
}
