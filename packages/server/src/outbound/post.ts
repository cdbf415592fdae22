// One POST to an endpoint: no redirect is followed, the answer's body is thrown away, and nothing lasts longer than it may.
import http from 'node:http'
import https from 'node:https'
import type { Clock } from '../kernel/clock.ts'
import type { Exchange } from './outcome.ts'
import type { SafeAddress } from './safe-address.ts'

export const ANSWER_WITHIN_MS = 15_000
/** The status decides; of the body only so much is read, for so long, to keep the connection for the next push. */
const MAX_DRAINED = 65_536
const DRAIN_MS = 1_000

export interface Post {
  (url: string, headers: Record<string, string>, body: string, stopping: AbortSignal): Promise<Exchange>
  close(): void
}

// Idle connections: a few for each endpoint, for a few seconds. How many are busy, the dispatcher bounds.
const KEPT = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 16, timeout: 4_000 } as const

const MAX_ERROR = 200
/** Without a reason of its own an abort makes an exception with a stack, which costs more than the rest of the bookkeeping. */
const OVER = 'over'

function describe(error: NodeJS.ErrnoException): string {
  const text = error.message || error.code || 'unknown'
  return (text.startsWith('address refused') ? text : `connection failed: ${text}`).slice(0, MAX_ERROR)
}

export function makePost(clock: Clock, { checkLiteral, lookup }: SafeAddress): Post {
  const agents = { 'http:': new http.Agent(KEPT), 'https:': new https.Agent(KEPT) }

  function once(url: URL, headers: Record<string, string>, body: Buffer, signal: AbortSignal): Promise<Exchange | 'stale'> {
    return new Promise((resolve) => {
      const secure = url.protocol === 'https:'
      const request = (secure ? https : http).request(url, {
        method: 'POST',
        agent: agents[secure ? 'https:' : 'http:'],
        lookup,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length, 'user-agent': 'Sensorium/1.0' },
      })
      const cut = (): void => void request.destroy(signal.reason as Error)
      if (signal.aborted) cut()
      signal.addEventListener('abort', cut)
      request.once('close', () => signal.removeEventListener('abort', cut))
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The endpoint closed a kept connection in the moment it was used again: that is nobody's failure.
        const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        resolve(stale ? 'stale' : { error: error instanceof Silence ? error.message : describe(error) })
      })
      request.on('response', (response) => {
        const exchange = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }
        let drained = 0
        const enough = setTimeout(() => response.destroy(), DRAIN_MS)
        response.on('data', (chunk: Buffer) => {
          if ((drained += chunk.length) > MAX_DRAINED) response.destroy()
        })
        response.on('error', () => {})
        response.on('close', () => {
          clearTimeout(enough)
          resolve(exchange)
        })
      })
      request.end(body)
    })
  }

  const post = (async (endpoint, headers, text, stopping) => {
    const url = URL.parse(endpoint)
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return { error: 'the endpoint is not an http or https URL' }
    try {
      checkLiteral(url.hostname)
    } catch (error) {
      return { error: (error as Error).message }
    }
    const limit = new AbortController()
    const over = new AbortController()
    const stop = (): void => limit.abort(new Silence('interrupted: the node was shutting down'))
    if (stopping.aborted) stop()
    stopping.addEventListener('abort', stop)
    void clock.sleep(ANSWER_WITHIN_MS, over.signal).then(() => {
      // Too late for an exchange that is over: its connection may be in use again.
      if (!over.signal.aborted) limit.abort(new Silence(`no answer within ${ANSWER_WITHIN_MS / 1000} s`))
    })
    try {
      const body = Buffer.from(text)
      for (let tries = 0; ; tries++) {
        const exchange = await once(url, headers, body, limit.signal)
        if (exchange !== 'stale') return exchange
        if (tries === 2) return { error: 'connection failed: closed by the endpoint' }
      }
    } finally {
      over.abort(OVER)
      stopping.removeEventListener('abort', stop)
    }
  }) as Post

  post.close = () => {
    agents['http:'].destroy()
    agents['https:'].destroy()
  }
  return post
}

/** The time ran out, or ours did. */
class Silence extends Error {}
