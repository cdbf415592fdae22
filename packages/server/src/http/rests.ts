// Sockets of an address that rest: which of them are read in the next turn of the event loop, and when
// (reading-turns.ts says who rests).
import type { Socket } from 'node:net'
import { isHeldByNode, type Slices } from './read-in-slices.ts'

/** What an address rests for, as a multiple of what it took. */
const REST = 4

/** Sockets that are not read for now, in their order. */
interface Resting {
  /** Those that have sent requests one by one so far. */
  readonly quiet: Set<Socket>
  /** Those that have pipelined, or were never read. */
  readonly others: Set<Socket>
}

export interface Sender {
  readonly name: string
  readonly sockets: Set<Socket>
  /** Null while nobody of this address rests. */
  resting: Resting | null
  /** Those that rested and may be read in this turn. */
  released: Socket[]
  /** Whether a read of this turn brought many requests, or left some behind that it brought. */
  isLoud: boolean
  /** Until then `others` are not read. */
  restUntil: number
  /** The turn that `heard` counts for. */
  turn: number
  heard: number
}

/** A socket: whose it is, and whether it has sent its requests one by one so far. */
export interface Known {
  readonly sender: Sender
  isQuiet: boolean
  /** Null while Node reads it. */
  slices: Slices | null
}

export const newSender = (name: string): Sender => ({
  name,
  sockets: new Set(),
  resting: null,
  released: [],
  isLoud: false,
  restUntil: 0,
  turn: 0,
  heard: 0,
})

export const known = new WeakMap<Socket, Known>()

/** `most` of those that rest may be read. */
function release(sender: Sender, from: Set<Socket>, most: number, isRead?: (socket: Socket) => void): void {
  for (const socket of from) {
    from.delete(socket)
    sender.released.push(socket)
    isRead?.(socket)
    known.get(socket)?.slices?.goOn()
    if (!isHeldByNode(socket)) socket.resume()
    if (sender.released.length === most) return
  }
}

function pause(resting: Resting, socket: Socket): void {
  ;(known.get(socket)!.isQuiet ? resting.quiet : resting.others).add(socket)
  socket.pause()
}

export function pauseNew({ resting }: Sender, socket: Socket): void {
  if (resting && !socket.destroyed) pause(resting, socket)
}

export interface RestsTools {
  now(): number
  /** When the first request of this turn came, or of the last one that had any. */
  turnBegan(): number
  /** Whether somebody else is connected: alone an address disturbs nobody. */
  hasNeighbours(): boolean
  /** Of those that did not pipeline, how many are read in a turn. */
  readAtOnce(sender: Sender): number
  /** One that pipelined, or was never read, is about to be. */
  isRead(socket: Socket): void
  /** Nobody of this address rests any more. */
  isOver(sender: Sender): void
}

export interface Rests {
  /** Those of its sockets that rest; from now on there are some. */
  begun(sender: Sender): Resting
  /** All its sockets rest but one. */
  rest(sender: Sender, except: Socket): void
}

export function makeRests({ now, turnBegan, hasNeighbours, readAtOnce, isRead, isOver }: RestsTools): Rests {
  function begun(sender: Sender): Resting {
    if (sender.resting) return sender.resting
    setImmediate(next, sender)
    return (sender.resting = { quiet: new Set(), others: new Set() })
  }

  /** After a turn: who is read in the one to come. */
  function next(sender: Sender): void {
    const time = now()
    if (sender.isLoud && hasNeighbours()) sender.restUntil = time + REST * (time - turnBegan())
    sender.isLoud = false
    sender.released = []
    const resting = sender.resting!
    if (resting.quiet.size > 0) release(sender, resting.quiet, readAtOnce(sender))
    else if (time < sender.restUntil) return void setTimeout(next, sender.restUntil - time, sender).unref()
    else if (resting.others.size > 0) release(sender, resting.others, 1, isRead)
    else {
      sender.resting = null
      return isOver(sender)
    }
    setImmediate(next, sender)
  }

  return {
    begun,
    rest(sender, except) {
      const toPause = sender.resting ? sender.released : sender.sockets
      const resting = begun(sender)
      for (const socket of toPause) if (socket !== except && !socket.destroyed) pause(resting, socket)
      sender.released = []
    },
  }
}
