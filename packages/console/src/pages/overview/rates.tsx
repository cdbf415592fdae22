// The rates as a chart: the last minutes by the second, or an hour or a day by the minute.
import type { LiveStats, StatsMinute } from '@sensorium/client'
import { useState } from 'react'
import { useCall } from '../../api/calls.ts'
import { pointsOf, type Count } from '../../api/live-stats.ts'
import { Chart, type Series } from '../../components/chart.tsx'
import { Panel } from '../../components/panel.tsx'
import { Segments } from '../../components/segments.tsx'
import { RefreshFailed } from '../../components/states.tsx'

type Range = 'live' | '60' | '1440'

const RANGES = [
  { value: 'live', label: 'Live' },
  { value: '60', label: '1 h' },
  { value: '1440', label: '24 h' },
] as const

type Counts = Pick<LiveStats & StatsMinute, Count>

/** Null where nothing was counted. */
function seriesOf(counts: readonly (Counts | null)[]): Series[] {
  const valuesOf = (name: Count) => counts.map((one) => one?.[name] ?? null)
  return [
    { name: 'Events', color: '--series-1', values: valuesOf('events'), fill: true },
    { name: 'Deliveries', color: '--series-2', values: valuesOf('deliveries') },
    { name: 'Acknowledged', color: '--series-3', values: valuesOf('acknowledgements') },
    { name: 'Failures', color: '--series-4', values: valuesOf('failures') },
  ]
}

const HEIGHT = 220

function Minutes({ minutes }: { minutes: number }) {
  const { data, error } = useCall('getStats', { query: { minutes } }, { every: 10_000, keep: true })
  const counts = data?.minutes ?? []
  return (
    <>
      <RefreshFailed error={error} />
      <Chart
        label="Events, deliveries, acknowledgements and failures a minute"
        height={HEIGHT}
        unit=" /min"
        times={counts.map(({ at }) => Date.parse(at) / 1000)}
        series={seriesOf(counts)}
      />
    </>
  )
}

export function Rates({ stats }: { stats: readonly LiveStats[] }) {
  const [range, setRange] = useState<Range>('live')
  const points = pointsOf(stats)
  return (
    <Panel
      title={range === 'live' ? 'Each second' : 'Each minute'}
      actions={<Segments<Range> label="Time" value={range} options={RANGES} onChange={setRange} />}
    >
      {range === 'live' ? (
        <Chart
          label="Events, deliveries, acknowledgements and failures a second"
          height={HEIGHT}
          unit=" /s"
          times={points.map(({ at }) => at)}
          series={seriesOf(points.map(({ counts }) => counts))}
        />
      ) : (
        <Minutes minutes={Number(range)} />
      )}
    </Panel>
  )
}
