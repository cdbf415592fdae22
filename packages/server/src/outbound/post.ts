// Sends one POST to an endpoint. No redirect is followed, the body of the response is discarded, and everything has a
// time limit.
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import { http } from '../kernel/node-http.ts'
import { AgentInTurns, makeHandshakes, type ConnectInTurn } from './handshakes.ts'
import type { PushResult } from './outcome.ts'
import { makeResolve } from './resolve.ts'
import { isPublicAddress, safeAddress, type SafeAddress } from './safe-address.ts'
import { describe, ExchangeAborted, sendOnce, type OutgoingPush, type UnderWay } from './send-once.ts'

export const RESPONSE_WITHIN_MS = 15_000
/** A push that waited for longer to connect, and then was not connected in time, is not held against its endpoint. */
const LATE_MS = 1_000

export const INTERRUPTED = 'interrupted: the node was shutting down'

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
  const underWay = new Set<UnderWay>()
  const closing = new AbortController()
  const handshakes = makeHandshakes(clock, closing.signal)
  let watching = false

  function cut(exchange: UnderWay, why: string): void {
    underWay.delete(exchange)
    exchange.cutBy = new ExchangeAborted(why)
    exchange.request?.destroy(exchange.cutBy)
    exchange.leaveLine?.(exchange.cutBy)
  }

  // One timer for all: a timer and two signals for each push were a quarter of the cost of a push.
  async function watch(): Promise<void> {
    if (watching) return
    watching = true
    while (underWay.size > 0) {
      const [oldest] = underWay
      await clock.sleep(Math.max(1, oldest!.until - clock.elapsed()), closing.signal)
      for (const exchange of underWay) {
        if (closing.signal.aborted) cut(exchange, INTERRUPTED)
        else if (exchange.until <= clock.elapsed()) cut(exchange, `no response within ${RESPONSE_WITHIN_MS / 1000} s`)
        else break
      }
    }
    watching = false
  }

  function sendInTurn(push: OutgoingPush, exchange: UnderWay): Promise<PushResult | 'stale'> {
    const { url, mailbox } = push
    const inTurn: ConnectInTurn = async (connect) => {
      const since = clock.elapsed()
      const turn = handshakes.begin(mailbox.recipientId, url.origin)
      const left = new Promise<never>((_, reject) => (exchange.leaveLine = reject))
      const ended = await Promise.race([turn, left]).catch((error: Error) => {
        void turn.then((end) => end(null))
        throw error
      })
      exchange.leaveLine = null
      exchange.isLate = clock.elapsed() - since > LATE_MS
      try {
        const socket = connect()
        socket.once('secureConnect', () => ended(true))
        socket.once('close', () => ended(false))
        return socket
      } catch (error) {
        ended(false)
        throw error
      }
    }
    return sendOnce(push, exchange, { agents, lookup: lookupFor(mailbox.tenantId), inTurn })
  }

  async function exchangeWith(push: OutgoingPush, waitedMs: number): Promise<PushResult> {
    const exchange: UnderWay = {
      until: clock.elapsed() + RESPONSE_WITHIN_MS - waitedMs,
      request: null,
      cutBy: null,
      leaveLine: null,
      isLate: false,
      isHandshaking: false,
    }
    underWay.add(exchange)
    void watch()
    try {
      checkLiteral(push.url.hostname)
      for (let tries = 0; ; tries++) {
        const result = await sendInTurn(push, exchange)
        // The endpoint may have had it over the connection that turned out to be closed.
        if (result !== 'stale') return tries > 0 && 'notSent' in result ? { error: result.error, isLate: true } : result
        if (tries === 2) return { error: 'connection failed: closed by the endpoint' }
      }
    } catch (error) {
      // Node.js throws for a request that it cannot begin, for example if the user in the URL cannot be decoded.
      return { error: describe(error as Error) }
    } finally {
      underWay.delete(exchange)
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
    for (const exchange of underWay) cut(exchange, INTERRUPTED)
    agents['http:'].destroy()
    agents['https:'].destroy()
  }
  return Object.assign(post, { close })
}
