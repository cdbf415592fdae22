// The banner of a service that does not answer. While it is shown the service is asked, because few pages ask on their
// own again and again, and one that failed asks nothing.
import { SensoriumError } from '@sensorium/client'
import { useQueryClient, type Query } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { isReachable, setReachable, watchReachable } from '../api/reachable.ts'
import { useFailureHandler, useSession } from '../session/session.ts'

const EVERY_MS = 3_000
/** A connection from before the computer slept or changed networks may be silent for a minute. */
const LIMIT_MS = 5_000
/**
 * Where one request never gets through and others do, the service seems to come and go all the time, and each return
 * must not lead to the next failure at once.
 */
const PAUSE_MS = 10_000
/** From here on a status may be that of a gateway which does not reach the service. */
const SERVER_ERROR = 500

/** Asks until there is an answer, also if it is a refusal, and at once when the browser has a network again. */
function useAnswer(): void {
  const { client, kind } = useSession()
  const failed = useFailureHandler()
  useEffect(() => {
    const shown = new AbortController()
    async function ask(): Promise<void> {
      const signal = AbortSignal.any([shown.signal, AbortSignal.timeout(LIMIT_MS)])
      const options = { query: { limit: 1 } }
      try {
        await (kind === 'operator'
          ? client.call('listTenants', options, { signal })
          : client.call('listAgents', options, { signal }))
      } catch (error) {
        if (shown.signal.aborted) return
        failed(error)
        if (!(error instanceof SensoriumError) || error.status >= SERVER_ERROR) return
      }
      setReachable(true)
    }
    const again = (): void => void ask()
    const timer = setInterval(again, EVERY_MS)
    addEventListener('online', again)
    return () => {
      shown.abort()
      clearInterval(timer)
      removeEventListener('online', again)
    }
  }, [client, kind, failed])
}

/** Whichever request was answered first, what failed meanwhile is asked again. */
function useReturn(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let askedAt = -Infinity
    let timer: ReturnType<typeof setTimeout> | undefined
    async function askAgain(): Promise<void> {
      timer = undefined
      if (!isReachable()) return
      askedAt = performance.now()
      const failed = queries.getQueryCache().findAll({
        type: 'active',
        // Those that still wait too, perhaps for a connection that is dead: without a cancel they would go on waiting.
        predicate: ({ state }) => state.status === 'error' || state.fetchStatus === 'fetching',
      })
      const predicate = (query: Query): boolean => failed.includes(query)
      await queries.cancelQueries({ predicate })
      await queries.refetchQueries({ predicate })
    }
    const stopWatching = watchReachable(() => {
      if (isReachable()) timer ??= setTimeout(() => void askAgain(), askedAt + PAUSE_MS - performance.now())
    })
    return () => {
      stopWatching()
      clearTimeout(timer)
    }
  }, [queries])
}

function Away() {
  useAnswer()
  return (
    <div className="banner" role="alert">
      The service does not answer. What you see may be out of date; the console goes on by itself when it is back.
    </div>
  )
}

export function AwayBanner() {
  useReturn()
  return useSyncExternalStore(watchReachable, isReachable) ? null : <Away />
}
