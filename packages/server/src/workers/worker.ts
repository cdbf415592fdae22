// A worker's connection to the primary process, and through it to the other workers.
import cluster from 'node:cluster'
import { unavailable } from '../kernel/failure.ts'
import type { MetricsOfProcess, ShareMetrics } from '../http/metrics.ts'
import type { PlacesGiven, Siblings } from '../kernel/shared-places.ts'
import type { Answer, Answers, Question, ToPrimary, ToWorker } from './messages.ts'

export interface Worker {
  /** The number of this worker. A worker that replaces another has a number of its own. */
  id: number
  ready(url: string): void
  /** Registers what is called when the whole service is to stop, and when it is to stop without serving on. */
  onStop(stop: (signal: string) => void, hurry: () => void): void
  shareMetrics: ShareMetrics
  /** The workers that share places with this one; `count` is how many there are. */
  siblings(count: number): Siblings
}

/** Longer than the primary waits for the other workers. */
const ANSWERED_WITHIN_MS = 3_000

/** Returns null in a process that is not a worker. */
export function joinPrimary(): Worker | null {
  const { worker } = cluster
  if (!worker) return null
  const waiting = new Map<number, (answers: Answer[]) => void>()
  const places = new Map<string, PlacesGiven>()
  const tell = (message: ToPrimary): void => void (worker.isConnected() && worker.send(message))
  let asks = 0
  // Until `onStop` is called: the worker does not serve anybody yet.
  let stop: (signal: string) => void = () => process.exit(0)
  let hurry = (): void => {}
  let ownMetrics: () => Promise<MetricsOfProcess> = async () => []

  async function answer(question: Question): Promise<Answer> {
    if (question.about === 'metrics') return ownMetrics()
    const given = places.get(question.kind)
    return question.about === 'places' ? (given?.to(question.key) ?? 0) : (given?.beyondShare() ?? [])
  }

  worker.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') stop(message.signal)
    else if (message.kind === 'hurry') hurry()
    else if (message.kind === 'ping') tell({ kind: 'alive' })
    else if (message.kind === 'answers') waiting.get(message.ask)?.(message.answers)
    else if (message.kind === 'question') {
      const { ask: id, question } = message
      void answer(question).then((own) => tell({ kind: 'answer', ask: id, about: question.about, answer: own }))
    }
  })

  /** Returns the answers of the workers: for metrics all, otherwise the others. */
  async function ask<Q extends Question>(question: Q): Promise<Answers[Q['about']][]> {
    const id = ++asks
    const answers = await new Promise<Answer[]>((resolve) => {
      waiting.set(id, resolve)
      setTimeout(() => resolve([]), ANSWERED_WITHIN_MS).unref()
      tell({ kind: 'ask', ask: id, question })
    })
    waiting.delete(id)
    return answers as Answers[Q['about']][]
  }

  return {
    id: worker.id,
    ready: (url) => tell({ kind: 'ready', url }),
    onStop(hearStop, hearHurry) {
      stop = hearStop
      hurry = hearHurry
    },
    shareMetrics(own) {
      ownMetrics = own
      return async () => {
        const all = await ask({ about: 'metrics' })
        // Not its own alone: counters that fall are taken for counters that began again.
        if (all.length === 0) throw unavailable('The metrics of all workers were not gathered in time')
        return all
      }
    },
    siblings: (count) => ({
      count,
      answer: (kind, given) => void places.set(kind, given),
      ask: async (kind, key) => {
        const answers = await ask({ about: 'places', kind, key })
        return answers.reduce((sum, taken) => sum + taken, 0)
      },
      askBeyondShare: async (kind) => (await ask({ about: 'beyond share', kind })).flat(),
    }),
  }
}
