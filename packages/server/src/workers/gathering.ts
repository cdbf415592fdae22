// Passes the question of a worker on to the workers, and their answers back to it.
//
// 1. A worker is asked from its first message on. Before that it has given out nothing, and it would answer late.
// 2. A worker that ends, or takes too long, is not waited for.
// 3. Counters never fall because of that: those of a worker that does not answer are shown as it last told them.
import type { MetricsOfProcess } from '../http/metrics.ts'
import { makeLastCounters } from './last-counters.ts'
import type { Answer, ToPrimary, ToWorker } from './messages.ts'

const ANSWER_WITHIN_MS = 2_000

interface Gathering<Worker> {
  hear(from: Worker, message: ToPrimary): void
  /** The worker has ended. */
  end(worker: Worker): void
}

interface Asked<Worker> {
  missing: Set<Worker>
  answers: Map<Worker, Answer>
  done(): void
}

export function makeGathering<Worker>(tell: (worker: Worker, message: ToWorker) => void): Gathering<Worker> {
  const workers = new Set<Worker>()
  const counters = makeLastCounters<Worker>()
  const open = new Map<number, Asked<Worker>>()
  let asks = 0

  function ask(from: Worker, { ask: id, question }: Extract<ToPrimary, { kind: 'ask' }>): void {
    const isMetrics = question.about === 'metrics'
    const own = ++asks
    const answers = new Map<Worker, Answer>()
    // For metrics the asking worker too, because its counters have to be known when it ends.
    const missing = new Set(isMetrics ? workers : [...workers].filter((worker) => worker !== from))
    const timer = setTimeout(done, ANSWER_WITHIN_MS)
    function done(): void {
      clearTimeout(timer)
      open.delete(own)
      const late = isMetrics ? counters.of(missing) : []
      tell(from, { kind: 'answers', ask: id, answers: [...answers.values(), ...late] })
    }
    if (missing.size === 0) return done()
    open.set(own, { missing, answers, done })
    for (const worker of missing) tell(worker, { kind: 'question', ask: own, question })
  }

  function answer(from: Worker, { ask: id, about, answer: told }: Extract<ToPrimary, { kind: 'answer' }>): void {
    // Also if it is too late: the next answer may be too.
    if (about === 'metrics') counters.keep(from, told as MetricsOfProcess)
    const asked = open.get(id)
    if (!asked?.missing.delete(from)) return
    asked.answers.set(from, told)
    if (asked.missing.size === 0) asked.done()
  }

  return {
    hear(from, message) {
      workers.add(from)
      if (message.kind === 'ask') ask(from, message)
      else if (message.kind === 'answer') answer(from, message)
    },
    end(worker) {
      workers.delete(worker)
      counters.end(worker)
      for (const asked of open.values()) {
        // It holds no places any more, and its counters are among those of workers that have ended.
        asked.answers.delete(worker)
        if (asked.missing.delete(worker) && asked.missing.size === 0) asked.done()
      }
    },
  }
}
