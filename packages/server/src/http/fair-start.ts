// The order in which requests are begun. A request that arrives alone is begun at once. When the requests of one turn
// of the event loop have taken a while together, later ones wait for the next turn, and there callers take turns. A
// caller is a tenant with its agents, or an address while the caller is not identified. So a thousand requests that one
// client pipelines are a thousand turns, with the requests of all others between them. Of a caller that floods
// (flood.ts) few requests are begun in a turn, and other callers do not wait behind them.
import { performance } from 'node:perf_hooks'
import { fairQueue } from '../kernel/fair-queue.ts'
import { watchForFlood } from '../kernel/flood.ts'
import type { Exchange } from './exchange.ts'

/** How long the requests of one turn may take together before the next one waits; a publish takes 0.1 to 0.2 ms. */
const TURN_MS = 2
/**
 * How long one turn may spend on beginning requests that wait. The work of a request after its first `await` comes on
 * top, two to three times as much: with 2 ms a turn took 8.
 */
const WAITING_MS = 0.5
/**
 * With several callers, both times are halved: a request takes five or six turns, and each turn holds requests of other
 * callers. When one of them floods, both are a quarter. (Rejected: a quarter for all. Two tenants that both send as
 * much as they can then get 13 % less, because fewer requests share a commit.)
 */
const SHARED = 0.5
const FLOODED = 0.25
/**
 * How many requests of a flooding caller are started in one turn. A request that starts quickly may take long
 * afterwards: 0.5 ms started thirty token requests with wrong keys, and the turn took 6.
 */
const MOST_OF_FLOOD = 4
/** A caller that sent nothing for this many turns counts as gone. Only turns with requests in them are counted. */
const RECENT_TURNS = 1_000

type Start<T> = (exchange: T) => void

/** The parts of a request that are needed here: whose place it takes, and whether its client is still connected. */
export type Startable = Pick<Exchange, 'place' | 'isCounted'>

/** Returns the tenant of a request, or its address while the caller is not identified. */
function keyOf({ place }: Startable): string {
  const [own, wider] = place!
  return wider!.key || own!.key
}

export function makeFairStart<T extends Startable>(
  begin: (exchange: T) => void,
  now: () => number = () => performance.now(),
): Start<T> {
  const queue = fairQueue<T>()
  const flood = watchForFlood<string>()
  let turnBegan = 0
  let isTurnOpen = false

  /** Requests of the flooding caller that were begun in this turn. */
  let begunOfFlood = 0
  let turn = 0
  /** The last caller, and the turn in which the caller last changed. */
  let caller = ''
  let changed = -Infinity

  const hasTaken = (ms: number, share: number): boolean => now() - turnBegan >= ms * share
  const share = (): number => (flood.isActive ? FLOODED : turn - changed < RECENT_TURNS ? SHARED : 1)
  const isFull = (ms: number): boolean => hasTaken(ms, share()) || begunOfFlood >= MOST_OF_FLOOD

  function hear(key: string): void {
    flood.heard(key)
    if (key === caller) return
    if (caller !== '') changed = turn
    caller = key
  }

  function beginNow(exchange: T, key: string): void {
    if (flood.isFlooding(key)) begunOfFlood++
    begin(exchange)
  }

  /** A caller that does not flood passes the waiting requests of the flood, unless it has requests waiting itself. */
  const mayBegin = (key: string): boolean =>
    flood.isActive && !flood.isFlooding(key)
      ? !queue.has(key) && !hasTaken(TURN_MS, SHARED)
      : queue.size === 0 && !isFull(TURN_MS)

  function openTurn(): void {
    isTurnOpen = true
    begunOfFlood = 0
    turn++
    turnBegan = now()
    setImmediate(nextTurn)
  }

  /** Runs after the sockets were read, so that requests that arrived in the meantime are in the queue too. */
  function nextTurn(): void {
    isTurnOpen = false
    if (queue.size === 0) return
    openTurn()
    queue.take((exchange) => {
      // A request whose client has disconnected in the meantime is dropped.
      if (exchange.isCounted) beginNow(exchange, keyOf(exchange))
      return isFull(WAITING_MS)
    })
  }

  return (exchange) => {
    if (!isTurnOpen) openTurn()
    const key = keyOf(exchange)
    hear(key)
    if (mayBegin(key)) return beginNow(exchange, key)
    queue.push(key, exchange.place![0]!.key, exchange)
  }
}
