// In what order requests are begun. One that comes alone is begun at once. When the requests of one turn of the event
// loop have taken a while together, those that come after them wait for the next turn, and there callers take turns: a
// tenant with its agents, or an address while it is not known who calls. So a thousand requests that somebody pipelines
// are a thousand turns, with everybody else's requests between them. Who floods (flood.ts) has few begun in a turn, and
// others do not wait behind them.
import { performance } from 'node:perf_hooks'
import { fairQueue } from '../kernel/fair-queue.ts'
import { watchForFlood } from '../kernel/flood.ts'
import type { Exchange } from './exchange.ts'

/** What the requests of one turn may take together before the next one waits; a publish takes 0.1 to 0.2 ms. */
const TURN_MS = 2
/**
 * What may be spent on beginning those that wait, in one turn. What a request does after its first `await` comes on top,
 * two to three times as much: with 2 ms a turn took 8.
 */
const WAITING_MS = 0.5
/**
 * Where several call, half of both: a request takes five or six turns, and each holds some of somebody else's. Where one
 * of them floods, a quarter. (Rejected: a quarter for all. Two tenants that both ask for all they can get then have 13 %
 * less, because fewer share a commit.)
 */
const SHARED = 0.5
const FLOODED = 0.25
/**
 * Of who floods so many are begun in a turn. What is begun quickly may take long afterwards: 0.5 ms began thirty exchanges
 * of wrong keys, and the turn took 6.
 */
const MOST_OF_FLOOD = 4
/** Who has not called for so many turns with requests in them is not there. */
const RECENT_TURNS = 1_000

export type Start<T> = (exchange: T) => void

/** What must be known of a request: whose place it takes, and whether its client is still there. */
export type Startable = Pick<Exchange, 'place' | 'isCounted'>

/** Its tenant, or its address while it is not known who calls. */
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

  /** In this turn. */
  let begunOfFlood = 0
  let turn = 0
  /** Who called last, and when that was another one than before. */
  let caller = ''
  let changed = -Infinity

  const hasTaken = (ms: number, share: number): boolean => now() - turnBegan >= ms * share
  const share = (): number => (flood.isOn ? FLOODED : turn - changed < RECENT_TURNS ? SHARED : 1)
  const isFull = (ms: number): boolean => hasTaken(ms, share()) || begunOfFlood >= MOST_OF_FLOOD

  function hear(key: string): void {
    flood.heard(key)
    if (key === caller) return
    if (caller !== '') changed = turn
    caller = key
  }

  function beginNow(exchange: T, key: string): void {
    if (flood.isBy(key)) begunOfFlood++
    begin(exchange)
  }

  /** Who does not flood goes past those of the flood that wait, unless some of its own do. */
  const mayBegin = (key: string): boolean =>
    flood.isOn && !flood.isBy(key)
      ? !queue.has(key) && !hasTaken(TURN_MS, SHARED)
      : queue.size === 0 && !isFull(TURN_MS)

  function openTurn(): void {
    isTurnOpen = true
    begunOfFlood = 0
    turn++
    turnBegan = now()
    setImmediate(nextTurn)
  }

  /** After the sockets were read: whoever sent something meanwhile is in the queue too. */
  function nextTurn(): void {
    isTurnOpen = false
    if (queue.size === 0) return
    openTurn()
    queue.take((exchange) => {
      // Whoever has hung up meanwhile is not worked for.
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
