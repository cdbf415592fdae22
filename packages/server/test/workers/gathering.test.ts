// What a worker hears when it asks the others through the primary. Workers are names here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricsOfProcess } from '../../src/http/metrics.ts'
import { makeGathering } from '../../src/workers/gathering.ts'
import type { Question, ToWorker } from '../../src/workers/messages.ts'

const PLACES: Question = { about: 'places', kind: 'polls', key: 'a' }

function started(...workers: string[]) {
  const told: { to: string; message: ToWorker }[] = []
  const gathering = makeGathering<string>((to, message) => void told.push({ to, message }))
  for (const worker of workers) gathering.hear(worker, { kind: 'ready', url: '' })
  return {
    ...gathering,
    ask: (from: string, question: Question) => gathering.hear(from, { kind: 'ask', ask: 7, question }),
    /** The workers that were asked since the last call, and under which number. */
    asked() {
      const questions = told
        .splice(0)
        .flatMap(({ to, message }) => (message.kind === 'question' ? [{ to, message }] : []))
      return { ask: questions[0]?.message.ask ?? 0, workers: questions.map(({ to }) => to) }
    },
    /** What a worker was told in answer to its question; null if nothing yet. */
    heard(worker: string) {
      const answer = told.find(({ to, message }) => to === worker && message.kind === 'answers')?.message
      return answer?.kind === 'answers' ? answer.answers : null
    },
  }
}

/** The metrics of a process that counted to a number. */
async function metrics(count: number): Promise<MetricsOfProcess> {
  const registers = [new Registry()]
  new Counter({ name: 'done_total', help: 'x', labelNames: ['kind'], registers }).inc({ kind: 'a' }, count)
  new Histogram({ name: 'seconds', help: 'x', buckets: [1], registers }).observe(count)
  new Gauge({ name: 'workers', help: 'x', registers }).set(1)
  return structuredClone(await registers[0]!.getMetricsAsJSON())
}

const shown = (all: unknown): Promise<string> => AggregatorRegistry.aggregate(structuredClone(all) as []).metrics()

test('[SAFE-14] a worker is asked from its first message on, and not waited for once it has ended', () => {
  const workers = started('a', 'b')
  workers.ask('new', PLACES)
  const { ask, workers: asked } = workers.asked()
  assert.deepEqual(asked, ['a', 'b'])
  workers.hear('a', { kind: 'answer', ask, about: 'places', answer: 3 })
  assert.equal(workers.heard('new'), null)
  workers.end('b')
  assert.deepEqual(workers.heard('new'), [3])
  workers.ask('a', PLACES)
  assert.deepEqual(workers.asked().workers, ['new'])
})

test('[SCL-5] the counters of workers that have ended are shown once, their gauges are not', async () => {
  const workers = started('a', 'b', 'c')
  workers.ask('a', { about: 'metrics' })
  const { ask, workers: asked } = workers.asked()
  assert.deepEqual(asked, ['a', 'b', 'c'])
  workers.hear('b', { kind: 'answer', ask, about: 'metrics', answer: await metrics(20) })
  workers.end('b')
  workers.hear('a', { kind: 'answer', ask, about: 'metrics', answer: await metrics(1) })
  workers.hear('c', { kind: 'answer', ask, about: 'metrics', answer: await metrics(300) })
  const first = await shown(workers.heard('a'))
  for (const line of ['done_total{kind="a"} 321', 'seconds_sum 321', 'seconds_count 3', 'workers 2'])
    assert.ok(first.includes(`\n${line}\n`), `${line} is not in ${first}`)

  workers.asked()
  workers.end('c')
  workers.ask('a', { about: 'metrics' })
  workers.hear('a', { kind: 'answer', ask: workers.asked().ask, about: 'metrics', answer: await metrics(2) })
  const second = await shown(workers.heard('a'))
  for (const line of ['done_total{kind="a"} 322', 'seconds_bucket{le="+Inf"} 3', 'workers 1'])
    assert.ok(second.includes(`\n${line}\n`), `${line} is not in ${second}`)
})

test('[SCL-5] counters that were told too late are shown the next time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const workers = started('a', 'b')
  workers.ask('a', { about: 'metrics' })
  const { ask } = workers.asked()
  workers.hear('a', { kind: 'answer', ask, about: 'metrics', answer: await metrics(1) })
  t.mock.timers.tick(2_000)
  assert.ok((await shown(workers.heard('a'))).includes('\ndone_total{kind="a"} 1\n'))
  workers.hear('b', { kind: 'answer', ask, about: 'metrics', answer: await metrics(20) })

  workers.ask('a', { about: 'metrics' })
  workers.hear('a', { kind: 'answer', ask: workers.asked().ask, about: 'metrics', answer: await metrics(2) })
  t.mock.timers.tick(2_000)
  assert.ok((await shown(workers.heard('a'))).includes('\ndone_total{kind="a"} 22\n'))
})
