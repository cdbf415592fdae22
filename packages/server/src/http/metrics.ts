// What /metrics shows. Labels are names of routes, never of tenants or agents, so their number is bounded.
import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  Registry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client'
import type { Store } from '../store/db.ts'
import { addHistogram, type Timer } from './histogram.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The metrics of one process. */
export type MetricsOfProcess = MetricObjectWithValues<MetricValue<string>>[]

/** Gives other processes the metrics of this one on request. Returns a function that asks all, this one included. */
export type ShareMetrics = (own: () => Promise<MetricsOfProcess>) => () => Promise<MetricsOfProcess[]>

export interface Metrics {
  /** What `/metrics` shows: the metrics of this process, or of all processes that share the port. */
  show(): Promise<{ type: string; text: string }>
  request(method: string, route: string, status: number, seconds: number): void
  store(kind: 'tx' | 'query', seconds: number): void
  /** Adds gauges that are read when the metrics are shown. */
  watch(store: Store, inFlight: () => number): void
  /** Adds a counter of the product, by name. */
  counter(name: string, help: string, labels?: string[]): Counter
  histogram(name: string, help: string, labels?: string[]): Histogram
  gauge(name: string, help: string, read: () => number): void
  /** Adds a gauge with one label, whose values are read when the metrics are shown. */
  gauges(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void
}

/**
 * Gauges of prom-client that are named as counters, which tools that check names reject. Their parts by type remain.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

// prom-client writes `Nan` if nothing was measured since the metrics were last shown; the format knows `NaN`.
const asPrometheusReads = (text: string): string => text.replaceAll(' Nan\n', ' NaN\n')

export function makeMetrics(share?: ShareMetrics): Metrics {
  const registry = new Registry()
  const askAll = share?.(() => registry.getMetricsAsJSON())
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const registers = [registry]
  const requests = addHistogram(
    registry,
    'sensorium_http_request_seconds',
    'Requests by route, method and status, and how long they took',
    SECONDS,
  )
  const storeSeconds = addHistogram(
    registry,
    'sensorium_store_seconds',
    'How long the store took, for a transaction (waiting included) or a single query',
    [0.0001, 0.00025, 0.0005, ...SECONDS],
  )
  const children = new Map<string, Timer>()
  const stores = { tx: storeSeconds({ kind: 'tx' }), query: storeSeconds({ kind: 'query' }) }

  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }

  gauge('sensorium_workers', 'Processes that serve the port and told their metrics', () => 1)

  return {
    async show() {
      // Summed, except for metrics that prom-client knows to be averages, maxima or values of one process.
      const shown = askAll ? AggregatorRegistry.aggregate(await askAll()) : registry
      return { type: registry.contentType, text: asPrometheusReads(await shown.metrics()) }
    },
    request(method, route, status, seconds) {
      const key = `${method} ${route} ${status}`
      let child = children.get(key)
      if (!child) children.set(key, (child = requests({ route, method, status: String(status) })))
      child.observe(seconds)
    },
    store: (kind, seconds) => stores[kind].observe(seconds),
    gauge,
    watch(store, inFlight) {
      gauge('sensorium_http_in_flight', 'Requests without a response yet', inFlight)
      gauge(
        'sensorium_store_waiting',
        'Transactions waiting for their turn or for a connection',
        () => store.stats().waiting,
      )
      gauge('sensorium_store_connections', 'Open connections to the store', () => store.stats().connections)
      gauge(
        'sensorium_store_idle_connections',
        'Open connections to the store that nobody uses',
        () => store.stats().idle,
      )
    },
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers }),
    histogram: (name, help, labels = []) =>
      new Histogram({ name, help, labelNames: labels, buckets: [...SECONDS, 15], registers }),
    gauges(name, help, label, read) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          for (const [value, amount] of Object.entries(read())) this.set({ [label]: value }, amount)
        },
      })
    },
  }
}
