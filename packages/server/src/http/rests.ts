// The resting sockets of an address: which of them are read in the next turn of the event loop, and when.
// socket-turns.ts decides which addresses rest.
import type { Socket } from 'node:net'
import { isHeldByNode, type Slices } from './read-in-slices.ts'

/** How long an address rests, as a multiple of the time that it took. */
const REST = 4
/** How many resting sockets are read in a turn, of all addresses together: about two milliseconds. */
const READ_IN_ALL = 32

/** Sockets that are not read for now, in the order in which they were paused. */
interface Resting {
  /** Sockets that have sent requests one by one so far. */
  readonly quiet: Set<Socket>
  /** Sockets that have pipelined, or were never read. */
  readonly others: Set<Socket>
}

export interface Sender {
  readonly name: string
  readonly sockets: Set<Socket>
  /** Null while no socket of this address rests. */
  resting: Resting | null
  /** Sockets that rested and may be read in this turn. */
  released: Socket[]
  /** Whether a read of this turn brought many requests, or brought some and left more to be parsed. */
  isLoud: boolean
  /** The time until which `others` are not read. */
  restUntil: number
  /** The turn that `heard` counts for. */
  turn: number
  heard: number
}

/** What is known of a socket: its sender, and whether it has sent its requests one by one so far. */
interface SocketState {
  readonly sender: Sender
  isQuiet: boolean
  /** Null while Node reads the socket by itself. */
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

export const socketStates = new WeakMap<Socket, SocketState>()

/** Resumes up to `most` of the resting sockets. Returns how many. */
function release(sender: Sender, from: Set<Socket>, most: number, beforeRead?: (socket: Socket) => void): number {
  for (const socket of from) {
    from.delete(socket)
    sender.released.push(socket)
    beforeRead?.(socket)
    socketStates.get(socket)?.slices?.allowNext()
    if (!isHeldByNode(socket)) socket.resume()
    if (sender.released.length === most) break
  }
  return sender.released.length
}

function pause(resting: Resting, socket: Socket): void {
  ;(socketStates.get(socket)!.isQuiet ? resting.quiet : resting.others).add(socket)
  socket.pause()
}

export function pauseNew({ resting }: Sender, socket: Socket): void {
  if (resting && !socket.destroyed) pause(resting, socket)
}

interface RestsTools {
  now(): number
  /** When the first request or piece of a body arrived in this turn, or in the last turn that had any. */
  turnBegan(): number
  /** Whether another address is connected: a single address disturbs no other. */
  hasNeighbours(): boolean
  /** How many of the sockets that did not pipeline are read in a turn. */
  readAtOnce(sender: Sender): number
  /** Called before a socket is read that has pipelined, or was never read. */
  beforeRead(socket: Socket): void
  /** Called when no socket of this address rests any more. */
  onRestOver(sender: Sender): void
}

interface Rests {
  /** Returns the resting sockets of the sender, and begins its rest if there is none. */
  ensureResting(sender: Sender): Resting
  /** Puts all sockets of the sender but one to rest. */
  rest(sender: Sender, except: Socket): void
}

export function makeRests({ now, turnBegan, hasNeighbours, readAtOnce, beforeRead, onRestOver }: RestsTools): Rests {
  /** The addresses that rest, in the order of their turns. */
  const waiting = new Set<Sender>()
  let isScheduled = false
  let timer: NodeJS.Timeout | undefined

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    clearTimeout(timer)
    setImmediate(next)
  }

  function ensureResting(sender: Sender): Resting {
    if (sender.resting) return sender.resting
    waiting.add(sender)
    schedule()
    return (sender.resting = { quiet: new Set(), others: new Set() })
  }

  /** Notes what the sockets of an address did in the turn that is over. */
  function endTurn(sender: Sender, time: number): void {
    if (sender.isLoud && hasNeighbours()) sender.restUntil = time + REST * (time - turnBegan())
    sender.isLoud = false
    sender.released = []
  }

  /** Lets up to `most` sockets of an address be read in the next turn. Returns how many; null if none rests. */
  function releaseSome(sender: Sender, most: number, time: number): number | null {
    const { quiet, others } = sender.resting!
    if (quiet.size > 0) return release(sender, quiet, Math.min(most, readAtOnce(sender)))
    if (others.size === 0) return null
    return time < sender.restUntil ? 0 : release(sender, others, 1, beforeRead)
  }

  /** Decides after a turn which sockets are read in the next one. */
  function next(): void {
    isScheduled = false
    const time = now()
    for (const sender of waiting) endTurn(sender, time)
    let left = READ_IN_ALL
    let soonest = Infinity
    for (const sender of [...waiting]) {
      if (left === 0) break
      const released = releaseSome(sender, left, time)
      if (released === 0) {
        soonest = Math.min(soonest, sender.restUntil)
        continue
      }
      waiting.delete(sender)
      if (released === null) {
        sender.resting = null
        onRestOver(sender)
        continue
      }
      waiting.add(sender)
      left -= released
    }
    if (left < READ_IN_ALL) schedule()
    else if (soonest < Infinity) timer = setTimeout(schedule, soonest - time).unref()
  }

  return {
    ensureResting,
    rest(sender, except) {
      const toPause = sender.resting ? sender.released : sender.sockets
      const resting = ensureResting(sender)
      for (const socket of toPause) if (socket !== except && !socket.destroyed) pause(resting, socket)
      sender.released = []
      schedule()
    },
  }
}
