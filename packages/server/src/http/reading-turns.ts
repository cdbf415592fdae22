// Whoever pipelines is read in turns. Node makes a request of everything that one read brings, which may be a thousand,
// and reads every socket that has something in the same turn of the event loop: a hundred sockets with a hundred
// requests each held everybody else up for 150 ms. So from the moment a read has brought many requests, the other
// sockets of that address are read one in a turn, until none of them is left. Clients that wait for a response before
// they send the next request, proxies among them, never meet this.
import type { Socket } from 'node:net'
import { networkOf } from '../kernel/addresses.ts'

/** Requests that one read may bring before its address is one that pipelines. */
const OF_ONE_READ = 16

interface Sender {
  readonly sockets: Set<Socket>
  /** Those that are not read for now, in their order; null while nobody of this address pipelines. */
  resting: Set<Socket> | null
}

export interface ReadingTurns {
  opened(socket: Socket): void
  closed(socket: Socket): void
  /** A request was read from it. */
  read(socket: Socket): void
}

export function makeReadingTurns(): ReadingTurns {
  const senders = new Map<string, Sender>()
  const senderOf = new WeakMap<Socket, [name: string, sender: Sender]>()
  let reading: Socket | null = null
  let count = 0
  let isTurnOpen = false

  /** The next of them is read in the next turn. */
  function rest(sender: Sender): void {
    const resting = (sender.resting = new Set(sender.sockets))
    for (const socket of resting) socket.pause()
    const next = (): void => {
      const [socket] = resting
      if (socket === undefined) return void (sender.resting = null)
      resting.delete(socket)
      socket.resume()
      setImmediate(next)
    }
    setImmediate(next)
  }

  function endTurn(): void {
    isTurnOpen = false
    reading = null
  }

  return {
    opened(socket) {
      const name = networkOf(socket.remoteAddress ?? '')
      let sender = senders.get(name)
      if (!sender) senders.set(name, (sender = { sockets: new Set(), resting: null }))
      sender.sockets.add(socket)
      senderOf.set(socket, [name, sender])
      if (!sender.resting) return
      sender.resting.add(socket)
      socket.pause()
    },
    closed(socket) {
      const [name, sender] = senderOf.get(socket)!
      sender.sockets.delete(socket)
      sender.resting?.delete(socket)
      if (sender.sockets.size === 0) senders.delete(name)
    },
    read(socket) {
      if (!isTurnOpen) {
        isTurnOpen = true
        setImmediate(endTurn)
      }
      if (reading !== socket) {
        reading = socket
        count = 0
      }
      if (++count !== OF_ONE_READ + 1) return
      const sender = senderOf.get(socket)?.[1]
      if (sender && !sender.resting) rest(sender)
    },
  }
}
