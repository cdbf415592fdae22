// Counts what the reads of a turn of the event loop bring: requests and pieces of bodies, of each socket.
import type { Socket } from 'node:net'

/** Counts what one read of a socket brings. */
function perRead() {
  let reading: Socket | null = null
  let count = 0
  return {
    /** One more of it. */
    count(socket: Socket): number {
      if (reading !== socket) {
        reading = socket
        count = 0
      }
      return ++count
    },
    ended: (): void => void (reading = null),
  }
}

/** What the reads of a turn of the event loop bring. */
export function countReads(now: () => number) {
  const requests = perRead()
  const pieces = perRead()
  let isTurnOpen = false

  function openTurn(): void {
    if (isTurnOpen) return
    isTurnOpen = true
    reads.turn++
    reads.turnBegan = now()
    setImmediate(() => {
      isTurnOpen = false
      reads.ended()
    })
  }

  const reads = {
    turn: 0,
    turnBegan: 0,
    /** A request came from it: the number it has in this read. */
    request(socket: Socket): number {
      openTurn()
      return requests.count(socket)
    },
    piece(socket: Socket): number {
      openTurn()
      return pieces.count(socket)
    },
    /** What comes next is of another read. */
    ended(): void {
      requests.ended()
      pieces.ended()
    },
  }
  return reads
}
