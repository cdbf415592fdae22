// Sends one POST to an endpoint. No redirect is followed, the body of the response is discarded, and everything has a
// time limit.
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import { http } from '../kernel/node-http.ts'
import { connectInTurn } from './connect-in-turn.ts'
import { makeDeadlines, RESPONSE_WITHIN_MS } from './deadlines.ts'
import { AgentInTurns, makeHandshakes } from './handshakes.ts'
import type { PushResult } from './outcome.ts'
import { makeResolve } from './resolve.ts'
import { isPublicAddress, safeAddress, type SafeAddress } from './safe-address.ts'
import { describe, sendOnce, type OutgoingPush, type UnderWay } from './send-once.ts'

export interface Post {
  /** `waitedMs` is how long the push has waited already, which counts toward its time limit. */
  (url: string, headers: Record<string, string>, body: string, mailbox: Mailbox, waitedMs?: number): Promise<PushResult>
  /** Aborts every exchange under way, and closes all connections. */
  close(): void | Promise<void>
}

// Idle connections are kept for a few seconds: as many as an endpoint has requests at once. With 16, https pushes came
// in bursts and half of them made a new connection: 840 µs of CPU a push instead of 520.
const KEPT = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 32, timeout: 4_000 } as const

/** Pushes to public addresses only, unless all are allowed. */
export const makePublicPost = (clock: Clock, { allowPrivate }: { allowPrivate: boolean }): Post =>
  makePost(clock, safeAddress(makeResolve({ elapsed: clock.elapsed }), allowPrivate ? () => true : isPublicAddress))

export function makePost(clock: Clock, { checkLiteral, lookupFor }: SafeAddress): Post {
  const agents = { 'http:': new http.Agent(KEPT), 'https:': new AgentInTurns(KEPT) }
  const closing = new AbortController()
  const deadlines = makeDeadlines(clock, closing.signal)
  const handshakes = makeHandshakes(clock, closing.signal)

  async function exchangeWith(push: OutgoingPush, waitedMs: number): Promise<PushResult> {
    const exchange: UnderWay = {
      until: clock.elapsed() + RESPONSE_WITHIN_MS - waitedMs,
      request: null,
      cutBy: null,
      leaveLine: null,
      isLate: false,
      isHandshaking: false,
    }
    deadlines.begin(exchange)
    try {
      checkLiteral(push.url.hostname)
      for (let tries = 0; ; tries++) {
        const result = await sendOnce(push, exchange, {
          agents,
          lookup: lookupFor(push.mailbox.tenantId),
          inTurn: connectInTurn(clock, handshakes, push, exchange),
        })
        // The endpoint may have had it over the connection that turned out to be closed.
        if (result !== 'stale') return tries > 0 && 'notSent' in result ? { error: result.error, isLate: true } : result
        if (tries === 2) return { error: 'connection failed: closed by the endpoint' }
      }
    } catch (error) {
      // Node.js throws for a request that it cannot begin, for example if the user in the URL cannot be decoded.
      return { error: describe(error as Error) }
    } finally {
      deadlines.end(exchange)
    }
  }

  // Not async: the text would be kept beside its bytes for as long as the exchange takes.
  function post(...[endpoint, headers, text, mailbox, waitedMs = 0]: Parameters<Post>): Promise<PushResult> {
    const url = URL.parse(endpoint)
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      return Promise.resolve({ error: 'the endpoint is not an http or https URL' })
    return exchangeWith({ url, headers, body: Buffer.from(text), mailbox }, waitedMs)
  }

  function close(): void {
    closing.abort()
    deadlines.cutAll()
    agents['http:'].destroy()
    agents['https:'].destroy()
  }
  return Object.assign(post, { close })
}
