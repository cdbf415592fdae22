// A long task that reports its progress and can be stopped. It stops when the user leaves the page.
import { useEffect, useRef, useState } from 'react'
import { useFailureHandler } from '../../session/session.ts'

interface Task<P> {
  /** The current progress, or the last one once the task has ended; null before the first report. */
  progress: P | null
  error: Error | null
  isRunning: boolean
  start(): void
  stop(): void
}

export function useTask<P>(run: (report: (progress: P) => void, signal: AbortSignal) => Promise<void>): Task<P> {
  const failed = useFailureHandler()
  const [progress, setProgress] = useState<P | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isRunning, setRunning] = useState(false)
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])

  async function start(): Promise<void> {
    const mine = new AbortController()
    controller.current = mine
    setProgress(null)
    setError(null)
    setRunning(true)
    try {
      await run(setProgress, mine.signal)
    } catch (failure) {
      if (!mine.signal.aborted) {
        setError(failure as Error)
        failed(failure)
      }
    }
    setRunning(false)
  }

  return { progress, error, isRunning, start: () => void start(), stop: () => controller.current?.abort() }
}
