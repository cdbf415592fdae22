// Feeds the input of a socket to Node's parser in slices, with a turn of the event loop in between. Node parses all
// that one read brings at once, up to 64 KiB: five hundred pipelined requests blocked the event loop for 13 ms, and
// 3,600 of the shortest ones fit. The rest stays in the socket's own buffer, so pausing, ending and closing still work.
//
// Only for addresses that sent much at once: Node reads other sockets without any of our code, which is cheaper.
import type { Socket } from 'node:net'

/** Some thirty requests, fifty of the shortest: about a millisecond. */
const SLICE_BYTES = 1_024
/** For a body whose slices bring nothing that is worth counting. */
const LONGEST_SLICE_BYTES = 16_384

export interface Slices {
  /** Called when the slice being parsed brought a request, or a body in pieces. */
  markBusy(): void
  /** Allows the next slice to be parsed once the socket is resumed. */
  allowNext(): void
  /** Stops the parsing for good. */
  stop(): void
}

/** Whether Node has stopped its parser until responses are taken; it then resumes the socket by itself. */
export const isHeldByNode = (socket: Socket): boolean => (socket as Socket & { _paused?: boolean })._paused === true

interface SlicesTools {
  /** Called before a slice is parsed. */
  begin(): void
  /**
   * Called when input is left that waits for `allowNext`. `wasBusy`: the slice brought a request, or a body in pieces.
   */
  wait(wasBusy: boolean): void
}

/** Parses `socket` in slices from now on. Returns null if anything but Node's server listens to the socket. */
export function readInSlices(socket: Socket, { begin, wait }: SlicesTools): Slices | null {
  const [parse, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[]
  if (!parse || others.length > 0) return null
  let size = SLICE_BYTES
  let isBusy = false
  let isWaiting = false
  let isStopped = false

  /** Puts the rest back into the socket: it comes again when the socket is resumed. */
  function keep(rest: Buffer): void {
    socket.pause()
    socket.unshift(rest)
  }

  function take(chunk: Buffer): void {
    // Node resumes a socket whenever more of a body is wanted, even if it was paused here.
    if (isWaiting || isHeldByNode(socket)) return keep(chunk)
    isBusy = false
    begin()
    parse!(chunk.subarray(0, size))
    const rest = chunk.subarray(size)
    size = isBusy ? SLICE_BYTES : Math.min(size * 2, LONGEST_SLICE_BYTES)
    if (rest.length === 0 || isStopped || socket.destroyed) return
    keep(rest)
    isWaiting = true
    wait(isBusy)
  }

  // With another listener added, Node no longer passes the input to its parser directly.
  socket.on('data', take)
  socket.off('data', parse)
  return {
    markBusy: () => void (isBusy = true),
    allowNext: () => void (isWaiting = false),
    stop() {
      isStopped = true
      socket.off('data', take)
    },
  }
}

/** Calls `work` once Node reads the socket: if Node has stopped, it must resume before anything else can read. */
export function whenReading(socket: Socket, work: () => void): void {
  if (socket.isPaused()) socket.once('resume', work)
  else if (!socket.destroyed) work()
}
