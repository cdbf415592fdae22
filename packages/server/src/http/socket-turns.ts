// Clients that send much at once are read in turns. Node parses all requests that one read brings, which may be a
// thousand, and reads every socket with input in the same turn of the event loop. A hundred sockets with a hundred
// requests each held up all others for 150 ms, and 3,000 sockets that closed together for 220.
//
// 1. As soon as one read has brought many requests, or one turn many of an address, the sockets of that address rest.
//    They are then read a few in a turn, and a socket that has brought many requests in one read is read alone. A turn
//    that is full with those of many addresses makes each rest of which it has read more than one.
// 2. While another address is connected too, an address rests for four times as long as such a read took. A request
//    takes five or six turns: with 5 ms of other requests in each, a neighbour's publish took 60 ms.
// 3. A read that brings much of a body in small pieces counts like one that brings many requests: Node calls us for
//    each chunk, and 64 KiB of one-byte chunks are 11,000 calls.
// 4. For a minute after an address has sent much at once, the input of its sockets is parsed in slices. Each slice
//    counts as a read that brought many requests while more are left (read-in-slices.ts).
//
// Clients that wait for a response before they send the next request, proxies among them, are never affected.
import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import { networkOf } from '../kernel/addresses.ts'
import { watchForFlood } from '../kernel/flood.ts'
import { countReads } from './count-reads.ts'
import { makeLoudNetworks } from './loud-networks.ts'
import { readInSlices, whenReading } from './read-in-slices.ts'
import { makeRests, newSender, pauseNew, socketStates, type Sender } from './rests.ts'

/** Requests that one read may bring before its socket counts as one that pipelines. */
const OF_ONE_READ = 16
/** Pieces of a body that one read may bring: about a millisecond of calls. */
const PIECES_OF_ONE_READ = 256
/**
 * Sockets that may be read, or may end, in one turn. From then on an address rests of which more than one was, while
 * another address is connected. All addresses count together: of 25 with 64 each, 1,568 sockets were read in a turn of
 * 140 ms.
 */
const OF_ONE_TURN = 64
/** How many resting sockets that did not pipeline are read in a turn: about a millisecond. */
const READ_AT_ONCE = 16
/**
 * The same two for an address that floods, which counts alone: sixty-four acknowledgements that came together made a
 * turn of 5 ms. Applied to all addresses this would cost 10 % of a node's throughput, since every socket is paused and
 * resumed.
 */
const OF_ONE_TURN_OF_FLOOD = 16
const READ_AT_ONCE_OF_FLOOD = 8
/** Connections that an address may have. Each takes some 30 kB while the head of a request is arriving. */
const OF_AN_ADDRESS = 24_576
/** From this many pieces of a body on, a slice counts as having brought something. */
const FEW_PIECES = 16

export interface SocketTurns {
  /** Returns false if the address has too many connections and this one must be closed. */
  opened(socket: Socket): boolean
  closed(socket: Socket): void
  /** Called when a request, or the end of the stream, was read from the socket. */
  read(socket: Socket): void
  /** Called when a piece of a body was read from the socket. */
  readPiece(socket: Socket): void
  /** Called when nothing more is to be read from the socket. */
  detached(socket: Socket): void
}

/** Counts one more socket of the sender, or of all senders, as read in this turn. Returns how many that makes. */
function heardInTurn(by: Pick<Sender, 'turn' | 'heard'>, turn: number): number {
  if (by.turn !== turn) by.heard = 0
  by.turn = turn
  return ++by.heard
}

export function makeSocketTurns(now: () => number = () => performance.now()): SocketTurns {
  const senders = new Map<string, Sender>()
  const reads = countReads(now)
  const loud = makeLoudNetworks(now)
  const flood = watchForFlood<Sender>()
  const all = { turn: 0, heard: 0 }
  const rests = makeRests({
    now,
    turnBegan: () => reads.turnBegan,
    hasNeighbours: () => senders.size > 1,
    readAtOnce: (sender) => (flood.isFlooding(sender) ? READ_AT_ONCE_OF_FLOOD : READ_AT_ONCE),
    beforeRead: sliceIfLoud,
    onRestOver(sender) {
      if (sender.sockets.size === 0) senders.delete(sender.name)
    },
  })

  function slice(socket: Socket): void {
    const one = socketStates.get(socket)!
    if (socket.destroyed || one.slices) return
    const wait = (wasBusy: boolean): void => {
      rests.ensureResting(one.sender).others.add(socket)
      if (wasBusy) one.sender.isLoud = true
    }
    one.slices = readInSlices(socket, { begin: reads.ended, wait })
  }

  function sliceIfLoud(socket: Socket): void {
    if (loud.has(socketStates.get(socket)!.sender.name)) whenReading(socket, () => slice(socket))
  }

  function markLoud(socket: Socket): void {
    const one = socketStates.get(socket)
    if (!one) return
    one.isQuiet = false
    one.sender.isLoud = true
    loud.note(one.sender.name)
    // Not now: Node is in the middle of parsing the socket's input.
    if (!one.slices) setImmediate(whenReading, socket, () => slice(socket))
    rests.rest(one.sender, socket)
  }

  return {
    opened(socket) {
      const name = networkOf(socket.remoteAddress ?? '')
      let sender = senders.get(name)
      if (!sender) senders.set(name, (sender = newSender(name)))
      sender.sockets.add(socket)
      socketStates.set(socket, { sender, isQuiet: false, slices: null })
      if (loud.has(name)) slice(socket)
      // Not at once: Node begins to read in the next tick, and would undo the pause.
      if (sender.resting) process.nextTick(pauseNew, sender, socket)
      return sender.sockets.size <= OF_AN_ADDRESS
    },
    closed(socket) {
      const { sender } = socketStates.get(socket)!
      sender.sockets.delete(socket)
      sender.resting?.quiet.delete(socket)
      sender.resting?.others.delete(socket)
      // A sender that rests is remembered: a client that disconnects and comes back rests for as long.
      if (sender.sockets.size === 0 && !sender.resting) senders.delete(sender.name)
    },
    read(socket) {
      const count = reads.request(socket)
      const one = count === 1 ? socketStates.get(socket) : undefined
      if (one) {
        one.isQuiet = true
        one.slices?.markBusy()
        const { sender } = one
        flood.heard(sender)
        const heard = heardInTurn(sender, reads.turn)
        const isFull = heardInTurn(all, reads.turn) >= OF_ONE_TURN && heard > 1
        const hasFlooded = flood.isFlooding(sender) && heard >= OF_ONE_TURN_OF_FLOOD
        if ((isFull || hasFlooded) && senders.size > 1) rests.rest(sender, socket)
      }
      if (count === OF_ONE_READ + 1) markLoud(socket)
    },
    readPiece(socket) {
      const count = reads.piece(socket)
      if (count === FEW_PIECES) socketStates.get(socket)?.slices?.markBusy()
      if (count === PIECES_OF_ONE_READ + 1) markLoud(socket)
    },
    detached(socket) {
      socketStates.get(socket)?.slices?.stop()
    },
  }
}
