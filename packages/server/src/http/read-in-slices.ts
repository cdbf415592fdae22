// Gives Node's parser what a socket brings a little at a time, with a turn of the event loop in between. Node parses all
// that one read brings at once, up to 64 KiB: five hundred pipelined requests held everybody up for 13 ms, and the
// shortest ones are 3,600. The rest lies in the socket's own buffer meanwhile, so pausing, ending and closing mean what
// they always mean.
//
// Only for who has pipelined: Node reads other sockets without any of our code, which is cheaper.
import type { Socket } from 'node:net'

/** Some thirty requests as they are, fifty of the shortest: about a millisecond. */
const SLICE_BYTES = 1_024
/** Of a body, where slices bring nothing that is worth counting. */
const LONGEST_SLICE_BYTES = 16_384

export interface Slices {
  /** What was just parsed brought a request, or a body in pieces. */
  heard(): void
  /** The next slice may be parsed, once the socket is resumed. */
  goOn(): void
  /** Nobody parses any more. */
  stop(): void
}

/** Node has stopped its parser until responses were taken, and resumes the socket by itself. */
export const isHeldByNode = (socket: Socket): boolean => (socket as Socket & { _paused?: boolean })._paused === true

export interface SlicesTools {
  /** A slice is about to be parsed. */
  begin(): void
  /** Something is left, and waits to go on; whether what was parsed brought a request, or a body in pieces. */
  wait(hasHeard: boolean): void
}

/** From now on `socket` is parsed in slices. Null where somebody else than Node's server listens to it. */
export function readInSlices(socket: Socket, { begin, wait }: SlicesTools): Slices | null {
  const [parse, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[]
  if (!parse || others.length > 0) return null
  let size = SLICE_BYTES
  let hasHeard = false
  let isWaiting = false
  let isStopped = false

  /** It comes again when the socket is resumed. */
  function keep(rest: Buffer): void {
    socket.pause()
    socket.unshift(rest)
  }

  function take(chunk: Buffer): void {
    // Node resumes a socket whenever somebody wants more of a body, whoever has paused it.
    if (isWaiting || isHeldByNode(socket)) return keep(chunk)
    hasHeard = false
    begin()
    parse!(chunk.subarray(0, size))
    const rest = chunk.subarray(size)
    size = hasHeard ? SLICE_BYTES : Math.min(size * 2, LONGEST_SLICE_BYTES)
    if (rest.length === 0 || isStopped || socket.destroyed) return
    keep(rest)
    isWaiting = true
    wait(hasHeard)
  }

  // A listener more, and Node no longer reads the socket past it.
  socket.on('data', take)
  socket.off('data', parse)
  return {
    heard: () => void (hasHeard = true),
    goOn: () => void (isWaiting = false),
    stop() {
      isStopped = true
      socket.off('data', take)
    },
  }
}

/** Where Node has stopped reading a socket it must begin again before somebody else can read it. */
export function onceItIsRead(socket: Socket, work: () => void): void {
  if (socket.isPaused()) socket.once('resume', work)
  else if (!socket.destroyed) work()
}
