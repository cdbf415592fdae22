// One replay or discard at a time. It waits a few seconds, in which it can be undone, and then proceeds in steps.
// It belongs to its page: leaving the page undoes or stops it, and a toast says so.
import { useEffect, useRef, useState } from 'react'
import { useRefresh } from '../../api/refresh.ts'
import { useIsOver, useSession } from '../../session/session.ts'
import { showToast, showFailure } from '../../shell/toast-store.ts'
import { totalOf, workThrough, type Choice, type Verb } from './work-through.ts'

export const UNDO_SECONDS = 6

export interface Job {
  verb: Verb
  total: number
  /** Seconds until the job starts; null once it has started. */
  startsIn: number | null
  done: number
}

export interface Jobs {
  job: Job | null
  plan(verb: Verb, choice: Choice): void
  /** Undoes the job while it waits; stops it between two steps when it runs. */
  stop(): void
  startNow(): void
}

const DONE: Record<Verb, string> = { replay: 'Replayed', discard: 'Discarded' }
const STALE = ['listDeadLetters', 'getDeadLetterSummary', 'getQueue'] as const

export function useJob(): Jobs {
  const { client } = useSession()
  const isOver = useIsOver()
  const refresh = useRefresh()
  const [job, setJob] = useState<Job | null>(null)
  const planned = useRef<{ verb: Verb; choice: Choice } | null>(null)
  const timer = useRef(0)
  /** Not null while the job runs; true when it should stop. */
  const stopping = useRef<boolean | null>(null)

  async function run(): Promise<void> {
    const { verb, choice } = planned.current!
    planned.current = null
    clearInterval(timer.current)
    stopping.current = false
    const total = totalOf(choice)
    let done = 0
    const outcome = (): string => `${DONE[verb]} ${done.toLocaleString()} of ${total.toLocaleString()}`
    setJob({ verb, total, startsIn: null, done })
    try {
      for await (const now of workThrough(client, verb, choice)) {
        done = now
        setJob({ verb, total, startsIn: null, done })
        if (stopping.current) break
      }
      const stopped = stopping.current && done < total ? `, stopped before the other ${total - done}` : ''
      if (!isOver()) showToast(`${outcome()}${stopped}`)
    } catch (error) {
      // The steps before it are done, and for discarded letters that is final.
      if (!isOver()) showFailure(error, `${outcome()}, then: `)
    }
    stopping.current = null
    setJob(null)
    await refresh(STALE)
  }

  function stop(): void {
    clearInterval(timer.current)
    if (stopping.current !== null) stopping.current = true
    else if (planned.current !== null) {
      showToast(`Taken back: nothing was ${DONE[planned.current.verb].toLowerCase()}`)
      planned.current = null
      setJob(null)
    }
  }

  const latest = useRef({ stop, run })
  latest.current = { stop, run }
  useEffect(() => () => latest.current.stop(), [])

  return {
    job,
    stop,
    startNow: () => void (planned.current !== null && run()),
    plan(verb, choice) {
      if (job !== null) return
      planned.current = { verb, choice }
      let startsIn = UNDO_SECONDS
      setJob({ verb, total: totalOf(choice), startsIn, done: 0 })
      timer.current = window.setInterval(() => {
        startsIn -= 1
        if (startsIn <= 0) void latest.current.run()
        else setJob({ verb, total: totalOf(choice), startsIn, done: 0 })
      }, 1_000)
    },
  }
}
