// Counts the requests and pieces of bodies that each read of a socket brings, and the turns with such reads.
import type { Socket } from 'node:net'

/** Counts one kind of thing that a read of a socket brings. */
function perRead() {
  let reading: Socket | null = null
  let count = 0
  return {
    /** Counts one more, and returns how many the current read of the socket has brought. */
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

/** Returns the counters. A turn is open from its first request or piece until the sockets have been read. */
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
    /** Counts a request of the socket, and returns its number in the current read. */
    request(socket: Socket): number {
      openTurn()
      return requests.count(socket)
    },
    piece(socket: Socket): number {
      openTurn()
      return pieces.count(socket)
    },
    /** Ends the current read: what comes next belongs to another. */
    ended(): void {
      requests.ended()
      pieces.ended()
    },
  }
  return reads
}
