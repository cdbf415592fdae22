// A client that sends a request too slowly is refused, and one that takes nothing of a response for 30 seconds is
// disconnected. Node times only the head of a request: its limit for the whole request would go on while a body waits
// for its turn to be read. Time is counted in ticks of a second, so that a clock that is set, or a busy process, costs
// no client any of its time.
import { requestTimeout, type Failure } from '../kernel/failure.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

export const TICK_MS = 1_000
/** A body may take this long to get going, and must then arrive at this rate on average. */
const BODY_GRACE_S = 5
const BODY_BYTES_PER_S = 8_192
/** How long the body of a request may take to arrive, apart from the time in which it waits for its turn to be read. */
const WHOLE_BODY_S = 60
const STUCK_S = 30
/** How long the rest of a refused body is read in all, and how long while none of it arrives. */
const DISCARD_S = 10
const DISCARD_SILENT_S = 2

type Refuse = (failure: Failure, exchange: Exchange) => void

/** How many connections that are too slow are ended in one turn of the event loop. */
const ENDED_AT_ONCE = 16

/** Called once a tick with all connections that have requests in hand. */
export async function tick(busy: ReadonlySet<Connection>, refuse: Refuse): Promise<void> {
  let ended = 0
  for (const connection of [...busy]) {
    if (!busy.has(connection) || !isTooSlow(connection, refuse)) continue
    // Connections that came together are too slow together: ending a thousand of them at once took 80 ms.
    if (++ended % ENDED_AT_ONCE === 0) await nextTurn()
  }
}

/** Returns whether the connection was ended, or one of its requests was refused. */
function isTooSlow(connection: Connection, refuse: Refuse): boolean {
  const { socket } = connection
  const taken = socket.bytesWritten - socket.writableLength
  if (socket.writableLength === 0 || taken !== connection.taken) connection.stuckSeconds = 0
  else if (++connection.stuckSeconds >= STUCK_S) {
    socket.destroy()
    return true
  }
  connection.taken = taken
  // Requests arrive one after the other: only the last can be incomplete.
  const last = connection.inHand.at(-1)
  if (!last) return false
  if (last.discarding) return tickDiscarding(last, last.discarding)
  if (last.reading && tickReading(last, last.reading, refuse)) return true
  return last.isBodyOutstanding && !last.awaitsTurn ? tickArriving(last, refuse) : false
}

function tickArriving(exchange: Exchange, refuse: Refuse): boolean {
  if (++exchange.arrivingSeconds !== WHOLE_BODY_S) return false
  exchange.closesConnection = true
  refuse(requestTimeout('the whole of it within a minute'), exchange)
  return true
}

function tickReading(exchange: Exchange, reading: NonNullable<Exchange['reading']>, refuse: Refuse): boolean {
  reading.seconds++
  if (exchange.hasResponse || reading.bytes >= (reading.seconds - BODY_GRACE_S) * BODY_BYTES_PER_S) return false
  exchange.closesConnection = true
  refuse(requestTimeout(`a body that comes at ${BODY_BYTES_PER_S} bytes a second or more`), exchange)
  return true
}

function tickDiscarding(exchange: Exchange, discarding: NonNullable<Exchange['discarding']>): boolean {
  discarding.seconds++
  discarding.silentSeconds = discarding.bytes === discarding.seen ? discarding.silentSeconds + 1 : 0
  discarding.seen = discarding.bytes
  if (discarding.seconds < DISCARD_S && discarding.silentSeconds < DISCARD_SILENT_S) return false
  // The response can no longer be lost: the connection ends with it, in its order.
  exchange.closesConnection = true
  exchange.response.end()
  return true
}
