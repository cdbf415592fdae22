// uPlot in the colours of the theme. The canvas is kept while data arrives or the width changes, and recreated when the
// theme, the height or the set of series changes.
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { timeRange } from './time-range.ts'
import { colorOf, onThemeChange } from './token-color.ts'
import 'uplot/dist/uPlot.min.css'
import './chart-canvas.css'

export interface Series {
  name: string
  /** One of the tokens `--series-1` to `--series-5`, or a state's colour. */
  color: `--${string}`
  /** Null where there is no value: the line has a gap there. */
  values: readonly (number | null)[]
  /** Fills the area below the line. */
  fill?: boolean
}

interface CanvasProps {
  label: string
  times: readonly number[]
  series: readonly Series[]
  height: number
  unit?: string
}

const clock = (seconds: number, withSeconds: boolean): string =>
  new Date(seconds * 1000).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' } : {}),
    hour12: false,
  })

const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** Half the width of a time with seconds, and some room. */
const HALF_LABEL = 28

function optionsFor(place: HTMLElement, series: readonly Series[], height: number): uPlot.Options {
  const quiet = colorOf(place, '--faint')
  const line = colorOf(place, '--line')
  const axis = { stroke: quiet, font: '11px ui-sans-serif, system-ui, sans-serif', ticks: { show: false } }
  return {
    width: Math.max(place.clientWidth, 120),
    height,
    padding: [8, HALF_LABEL, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    scales: {
      x: { range: ({ data }, first, last) => timeRange(data[0].length, first, last) },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        space: 90,
        // A label at the left end would lie over that of 0.
        values: (plot, ticks, _, __, step) =>
          ticks.map((tick) => (plot.valToPos(tick, 'x') < HALF_LABEL ? null : clock(tick, step < 60))),
      },
      {
        ...axis,
        incrs: [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7, 1e8, 1e9],
        grid: { stroke: line, width: 1 },
        size: 44,
        space: 32,
        values: (_, ticks) => ticks.map((tick) => short.format(tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ name, color, fill }) => {
        const stroke = colorOf(place, color)
        return {
          label: name,
          stroke,
          width: 1.6,
          points: { show: false },
          ...(fill ? { fill: stroke.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.1)') } : {}),
        }
      }),
    ],
  }
}

export default function ChartCanvas({ label, times, series, height, unit = '' }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const [version, setVersion] = useState(0)
  const data = [times, ...series.map(({ values }) => values)] as uPlot.AlignedData
  const latest = useRef(data)
  latest.current = data
  const names = series.map(({ name, color }) => `${name}${color}`).join()

  // biome-ignore lint/correctness/useExhaustiveDependencies: setData updates values; only these recreate the canvas
  useEffect(() => {
    const element = place.current!
    const options = optionsFor(element, series, height)
    options.hooks = { setCursor: [({ cursor }) => setAt(cursor.idx ?? null)] }
    const made = new uPlot(options, latest.current, element)
    plot.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(element.clientWidth, 120), height }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [names, height, version])
  useEffect(() => plot.current?.setData(data), [data])
  useEffect(() => onThemeChange(() => setVersion((count) => count + 1)), [])

  const shown = at ?? times.length - 1
  return (
    <figure className="chart" aria-label={label}>
      <figcaption className="chart-legend">
        {series.map(({ name, color, values }) => (
          <span key={name}>
            <i style={{ background: `var(${color})` }} />
            {name} <b>{values[shown] == null ? '—' : short.format(values[shown]) + unit}</b>
          </span>
        ))}
        {at === null ? null : <span className="number">{clock(times[at] ?? 0, true)}</span>}
      </figcaption>
      <div ref={place} />
    </figure>
  )
}
