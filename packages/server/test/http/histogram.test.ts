// Our histogram prints what prom-client's own would print.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { addHistogram } from '../../src/http/histogram.ts'

test('[HTTP-25] a histogram prints exactly as one of prom-client', async () => {
  const bounds = [0.001, 0.01, 0.1, 1]
  const [ours, theirs] = [new Registry(), new Registry()]
  const timers = addHistogram(ours, 'seconds', 'How long', bounds)
  const reference = new Histogram({
    name: 'seconds',
    help: 'How long',
    labelNames: ['route', 'status'],
    buckets: bounds,
    registers: [theirs],
  })
  for (const [labels, seconds] of [
    [{ route: '/v1/agents/:id', status: '200' }, [0.0005, 0.001, 0.0011, 0.5, 1, 7]],
    [{ route: 'a "quoted" \\ one', status: '404' }, [0]],
  ] as const) {
    const timer = timers(labels)
    for (const s of seconds) {
      timer.observe(s)
      reference.observe(labels, s)
    }
  }
  assert.equal(await ours.metrics(), await theirs.metrics())
})
