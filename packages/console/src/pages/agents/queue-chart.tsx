// A chart of the mailbox while this page is open, with a point for each response.
import type { Queue } from '@sensorium/client'
import { useRef } from 'react'
import { Chart } from '../../components/chart.tsx'
import { Panel } from '../../components/panel.tsx'

const MOST_POINTS = 600

interface Point {
  at: number
  pending: number
  leased: number
  dead: number
}

export function QueueChart({ queue, at }: { queue: Queue; at: number }) {
  const kept = useRef<Point[]>([])
  if (kept.current.at(-1)?.at !== at) {
    const point = { at, pending: queue.pending, leased: queue.leased, dead: queue.dead_lettered }
    kept.current = [...kept.current, point].slice(-MOST_POINTS)
  }
  const shown = kept.current
  return (
    <Panel title="Mailbox since you opened this page">
      <Chart
        label="Waiting, leased and dead deliveries over time"
        height={150}
        times={shown.map((point) => point.at / 1000)}
        series={[
          { name: 'Waiting', color: '--series-1', values: shown.map(({ pending }) => pending), fill: true },
          { name: 'Leased', color: '--series-2', values: shown.map(({ leased }) => leased) },
          { name: 'Dead letters', color: '--series-4', values: shown.map(({ dead }) => dead) },
        ]}
      />
    </Panel>
  )
}
