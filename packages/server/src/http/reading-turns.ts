// Whoever sends much at once is read in turns. Node makes a request of everything that one read brings, which may be a
// thousand, and reads every socket that has something in the same turn of the event loop: a hundred sockets with a
// hundred requests each held everybody else up for 150 ms, and 3,000 sockets that hung up together for 220.
//
// 1. From the moment a read has brought many requests, or one turn many of an address, the sockets of that address rest.
//    They are read again some in a turn, and one that has brought many in a read alone.
// 2. Where somebody else is connected too, an address rests for four times what such a read took. A request takes five
//    or six turns: with 5 ms of somebody's requests in each, a neighbour's publish took 60 ms.
// 3. A read that brings much of a body in small pieces counts like one that brings many requests: Node calls us for each
//    chunk, and 64 KiB of chunks of one byte are 11,000 of them.
// 4. For a minute after an address has brought much at once, what its sockets bring is parsed in slices, each of which
//    counts as a read that brought many while more are left (read-in-slices.ts).
//
// Clients that wait for a response before they send the next request, proxies among them, never meet this.
import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import { networkOf } from '../kernel/addresses.ts'
import { watchForFlood } from '../kernel/flood.ts'
import { countReads } from './count-reads.ts'
import { makeLoudNetworks } from './loud-networks.ts'
import { onceItIsRead, readInSlices } from './read-in-slices.ts'
import { known, makeRests, newSender, pauseNew, type Sender } from './rests.ts'

/** Requests that one read may bring before its socket is one that pipelines. */
const OF_ONE_READ = 16
/** Pieces of a body that one read may bring: about a millisecond of calls. */
const PIECES_OF_ONE_READ = 256
/** Sockets of an address that may be read, or that may end, in one turn, where somebody else is connected. */
const OF_ONE_TURN = 64
/** Those that rest and did not pipeline are read so many in a turn: about a millisecond. */
const READ_AT_ONCE = 16
/**
 * The same of an address that floods: sixty-four acknowledgements that came together were a turn of 5 ms. For everybody
 * it would cost 10 % of what a node can do, since every socket is paused and resumed.
 */
const OF_ONE_TURN_OF_FLOOD = 16
const READ_AT_ONCE_OF_FLOOD = 8
/** Connections of an address. Each takes some 30 kB while the head of a request is on its way. */
const OF_AN_ADDRESS = 24_576
/** Pieces of a body in a slice that are worth counting. */
const FEW_PIECES = 16

export interface ReadingTurns {
  /** False: its address has as many as it may have, and this one is to be closed. */
  opened(socket: Socket): boolean
  closed(socket: Socket): void
  /** A request was read from it, or its end. */
  read(socket: Socket): void
  /** A piece of a body was read from it. */
  readPiece(socket: Socket): void
  /** Nothing more is read from it. */
  left(socket: Socket): void
}

/** How many sockets of a sender were read in this turn, with this one. */
function heardInTurn(sender: Sender, turn: number): number {
  if (sender.turn !== turn) sender.heard = 0
  sender.turn = turn
  return ++sender.heard
}

export function makeReadingTurns(now: () => number = () => performance.now()): ReadingTurns {
  const senders = new Map<string, Sender>()
  const reads = countReads(now)
  const loud = makeLoudNetworks(now)
  const flood = watchForFlood<Sender>()
  const rests = makeRests({
    now,
    turnBegan: () => reads.turnBegan,
    hasNeighbours: () => senders.size > 1,
    readAtOnce: (sender) => (flood.isBy(sender) ? READ_AT_ONCE_OF_FLOOD : READ_AT_ONCE),
    isRead: sliceIfLoud,
    isOver(sender) {
      if (sender.sockets.size === 0) senders.delete(sender.name)
    },
  })

  function slice(socket: Socket): void {
    const one = known.get(socket)!
    if (socket.destroyed || one.slices) return
    const wait = (hasHeard: boolean): void => {
      rests.begun(one.sender).others.add(socket)
      if (hasHeard) one.sender.isLoud = true
    }
    one.slices = readInSlices(socket, { begin: reads.ended, wait })
  }

  function sliceIfLoud(socket: Socket): void {
    if (loud.has(known.get(socket)!.sender.name)) onceItIsRead(socket, () => slice(socket))
  }

  function isLoud(socket: Socket): void {
    const one = known.get(socket)
    if (!one) return
    one.isQuiet = false
    one.sender.isLoud = true
    loud.remember(one.sender.name)
    // Not now: Node is in the middle of parsing it.
    if (!one.slices) setImmediate(onceItIsRead, socket, () => slice(socket))
    rests.rest(one.sender, socket)
  }

  return {
    opened(socket) {
      const name = networkOf(socket.remoteAddress ?? '')
      let sender = senders.get(name)
      if (!sender) senders.set(name, (sender = newSender(name)))
      sender.sockets.add(socket)
      known.set(socket, { sender, isQuiet: false, slices: null })
      if (loud.has(name)) slice(socket)
      // Not at once: Node has asked for the next tick to begin reading, and would.
      if (sender.resting) process.nextTick(pauseNew, sender, socket)
      return sender.sockets.size <= OF_AN_ADDRESS
    },
    closed(socket) {
      const { sender } = known.get(socket)!
      sender.sockets.delete(socket)
      sender.resting?.quiet.delete(socket)
      sender.resting?.others.delete(socket)
      // While it rests it is remembered: who hangs up and comes back rests for as long.
      if (sender.sockets.size === 0 && !sender.resting) senders.delete(sender.name)
    },
    read(socket) {
      const count = reads.request(socket)
      const one = count === 1 ? known.get(socket) : undefined
      if (one) {
        one.isQuiet = true
        one.slices?.heard()
        flood.heard(one.sender)
        const most = flood.isBy(one.sender) ? OF_ONE_TURN_OF_FLOOD : OF_ONE_TURN
        if (heardInTurn(one.sender, reads.turn) >= most && senders.size > 1) rests.rest(one.sender, socket)
      }
      if (count === OF_ONE_READ + 1) isLoud(socket)
    },
    readPiece(socket) {
      const count = reads.piece(socket)
      if (count === FEW_PIECES) known.get(socket)?.slices?.heard()
      if (count === PIECES_OF_ONE_READ + 1) isLoud(socket)
    },
    left(socket) {
      known.get(socket)?.slices?.stop()
    },
  }
}
