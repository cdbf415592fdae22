// Who sends a body too slowly is refused, and who takes nothing of a response for 30 seconds is gone. Time is counted
// in ticks of a second, so that a clock that is set, or a busy process, takes nothing from anybody.
import { requestTimeout, type Failure } from '../kernel/failure.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

export const TICK_MS = 1_000
/** A body may take this long to get going, and then comes at this rate, on the average. */
const BODY_GRACE_S = 5
const BODY_BYTES_PER_S = 8_192
const STUCK_S = 30
/** The rest of a refused body is read for so long, and while it comes. */
const DISCARD_S = 10
const DISCARD_SILENT_S = 2

type Refuse = (failure: Failure, exchange: Exchange) => void

/** Connections that were too slow and are ended in one turn of the event loop. */
const ENDED_AT_ONCE = 16

/** Called once in a tick with every connection that has requests in hand. */
export async function tick(busy: ReadonlySet<Connection>, refuse: Refuse): Promise<void> {
  let ended = 0
  for (const connection of [...busy]) {
    if (!busy.has(connection) || !isTooSlow(connection, refuse)) continue
    // Those that came together are too slow together: to end a thousand of them at once took 80 ms.
    if (++ended % ENDED_AT_ONCE === 0) await nextTurn()
  }
}

/** Returns whether one of its requests was refused, or it was ended. */
function isTooSlow(connection: Connection, refuse: Refuse): boolean {
  const { socket } = connection
  const taken = socket.bytesWritten - socket.writableLength
  if (socket.writableLength === 0 || taken !== connection.taken) connection.stuckSeconds = 0
  else if (++connection.stuckSeconds >= STUCK_S) {
    socket.destroy()
    return true
  }
  connection.taken = taken
  // Requests come one after the other: only the last can be unfinished.
  const last = connection.inHand.at(-1)
  if (last?.discarding) return tickDiscarding(last, last.discarding)
  return last?.reading ? tickReading(last, last.reading, refuse) : false
}

function tickReading(exchange: Exchange, reading: NonNullable<Exchange['reading']>, refuse: Refuse): boolean {
  reading.seconds++
  if (exchange.hasResponse || reading.bytes >= (reading.seconds - BODY_GRACE_S) * BODY_BYTES_PER_S) return false
  exchange.isLast = true
  refuse(requestTimeout(`a body that comes at ${BODY_BYTES_PER_S} bytes a second or more`), exchange)
  return true
}

function tickDiscarding(exchange: Exchange, discarding: NonNullable<Exchange['discarding']>): boolean {
  discarding.seconds++
  discarding.silentSeconds = discarding.bytes === discarding.seen ? discarding.silentSeconds + 1 : 0
  discarding.seen = discarding.bytes
  if (discarding.seconds < DISCARD_S && discarding.silentSeconds < DISCARD_SILENT_S) return false
  // Nothing that arrives can be lost any more: the connection ends with the response, in its order.
  exchange.isLast = true
  exchange.response.end()
  return true
}
