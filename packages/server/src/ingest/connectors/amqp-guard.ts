// Holds a broker to what it was told. rhea announces the size of frames, the credit and our one link, but takes
// whatever comes; it decodes any length that a frame declares, and walks through any range. This stands between it and
// the socket.
//
// 1. rhea is given whole frames, none larger than was announced, and none before its encoding was checked.
// 2. There is one session with one link. A broker cannot open another, whose messages nobody would check or count.
// 3. Flows and dispositions are ignored: to a receiver that settles first they say nothing that it has to know.
// 4. A message that was not asked for is refused, and no more of one is held than an event may have. Its bytes are
//    handed over undecoded: rhea would decode them before they are checked, and an error that it throws ends the
//    connection, so that the broker would send the same message again, for ever.
// 5. What rhea throws when it writes, in a tick of its own, ends the connection too. It would end the process.
// 6. Signs of life are sent at most twice a second, whatever idle timeout the broker names.
//
// A broker that breaks a rule is disconnected; the error says which.
import type { Socket } from 'node:net'
import type { Connection, Session } from 'rhea'
import { MAX_FRAME_BYTES } from './amqp-address.ts'
import { checkFrame } from './amqp-encoding.ts'

/** The protocol header, and the smallest frame. */
const HEADER_BYTES = 8
const AMQP = Buffer.from('AMQP').readUInt32BE()
/** The idle timeouts that are kept to. rhea sets a timer of half of one, and a timer that overflows ends at once. */
const IDLE_MS = { least: 1_000, most: 2 ** 32 - 2 }
/**
 * Bytes that may wait for the broker to read them. The outcomes of all messages within the largest credit are fewer.
 */
const MAX_UNREAD_BYTES = 1_048_576
/** Bytes a message may have beside its body, for properties and annotations. */
const BESIDE_THE_BODY = 65_536
/**
 * Bytes it may have for each of the body's, with those of its frames. The smallest that a broker may choose have 512.
 */
const WITH_FRAMES = 1.125
/** 0 stands for AMQP's own message format, which rhea decodes; messages of other formats it passes on as bytes. */
const UNDECODED = 1
const NO_BYTES = Buffer.alloc(0)

/** What rhea's types leave out. */
interface InnerConnection {
  socket: Socket
  input(bytes: Buffer): void
  /** Writes what is to be written, in a tick of its own. */
  _process(): void
  on_open(frame: OpenFrame): void
  create_session(): never
  /** Set while rhea has part of a frame. */
  frame_size?: number
  previous_input?: Buffer | null
}

interface OpenFrame {
  performative: { idle_time_out?: unknown }
}

interface InnerSession {
  create_link(): never
  on_flow(): void
  on_disposition(): void
  on_transfer(frame: TransferFrame): void
}

interface TransferFrame {
  size: number
  performative: { delivery_id?: unknown; message_format?: number; more?: unknown; aborted?: unknown }
  payload?: Buffer | undefined
}

/** Makes a connection read only frames that it can read with bounded work. Must be called before it connects. */
export function guardConnection(connection: Connection): void {
  const inner = connection as unknown as InnerConnection
  const read = inner.input.bind(connection)
  const open = inner.on_open.bind(connection)
  const split = makeSplitter()
  inner.on_open = (frame) => {
    const idle = Number(frame.performative.idle_time_out)
    const bounded = Math.min(Math.max(idle, IDLE_MS.least), IDLE_MS.most)
    frame.performative.idle_time_out = idle > 0 ? bounded : undefined
    open(frame)
  }
  inner._process = orEnd(inner, inner._process.bind(connection))
  inner.input = orEnd(inner, (chunk) => {
    const { socket } = inner
    if (socket.writableLength > MAX_UNREAD_BYTES) throw new Error('the broker does not read what it is sent')
    for (const part of split(chunk)) {
      if (part.length > HEADER_BYTES) checkFrame(part)
      read(part)
      // rhea has found an error.
      if (socket.destroyed) return
      if (inner.frame_size || inner.previous_input) throw new Error('the broker sent a header out of place')
    }
  })
}

/** Returns the same work, except that an error in it ends the connection. */
function orEnd<Given extends unknown[]>(inner: InnerConnection, work: (...given: Given) => void) {
  return (...given: Given): void => {
    try {
      work(...given)
    } catch (error) {
      inner.socket.destroy(error as Error)
    }
  }
}

/** Returns a function that is given bytes as they arrive, and yields each header and each frame once it is whole. */
function makeSplitter(): (chunk: Buffer) => Generator<Buffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  let wanted = HEADER_BYTES
  return function* (chunk) {
    held.push(chunk)
    heldBytes += chunk.length
    // Joined twice for a frame at most, however small the pieces in which it arrives.
    if (heldBytes < wanted) return
    const bytes = held.length === 1 ? chunk : Buffer.concat(held, heldBytes)
    let at = 0
    for (;;) {
      wanted = sizeAt(bytes, at)
      if (wanted > bytes.length - at) break
      yield bytes.subarray(at, at + wanted)
      at += wanted
    }
    held = [bytes.subarray(at)]
    heldBytes = bytes.length - at
  }
}

/** Returns the size of the header or frame that begins here; the smallest possible, if too little of it is there. */
function sizeAt(bytes: Buffer, at: number): number {
  if (bytes.length - at < HEADER_BYTES) return HEADER_BYTES
  const size = bytes.readUInt32BE(at)
  if (size === AMQP) return HEADER_BYTES
  if (size < HEADER_BYTES || size > MAX_FRAME_BYTES)
    throw new Error(`the broker sent a frame of ${size} bytes; at least ${HEADER_BYTES}, at most ${MAX_FRAME_BYTES}`)
  return size
}

/** rhea counts on from the first id whatever it is, even if there is none, and then cannot write the outcome. */
const isDeliveryId = (id: unknown): boolean => typeof id === 'number' && id >>> 0 === id

interface Transfers {
  /** The size of the message that is being handed over, even if its bytes were not kept. */
  size(): number
  /** Whether the bytes of that message were kept. */
  isWhole(): boolean
  /** Whether its sender took it back while it was sent. It is settled by that, and must be discarded. */
  isAborted(): boolean
}

/**
 * Makes this session and the link in it the only ones, and bounds its messages. `arrived` is called for each message
 * before it is handed over, and throws if it was not asked for.
 */
export function guardSession(
  connection: Connection,
  session: Session,
  maxEventBytes: number,
  arrived: () => void,
): Transfers {
  const most = maxEventBytes * WITH_FRAMES + BESIDE_THE_BODY
  const inner = session as unknown as InnerSession
  const refuse = (): never => {
    throw new Error('the broker opened a session or a link of its own')
  }
  ;(connection as unknown as InnerConnection).create_session = refuse
  inner.create_link = refuse
  inner.on_flow = () => {}
  inner.on_disposition = () => {}

  const pass = inner.on_transfer.bind(session)
  let size = 0
  let aborted = false
  inner.on_transfer = (frame) => {
    const isFirst = size === 0
    aborted = frame.performative.aborted === true
    const isLast = aborted || frame.performative.more !== true
    frame.performative.more = !isLast
    frame.performative.message_format = UNDECODED
    if (isFirst && !isDeliveryId(frame.performative.delivery_id))
      throw new Error('the broker sent a message without a delivery id')
    size += frame.size
    // rhea keeps the payload of every frame that has one, even if it is empty.
    if (size > most || aborted) frame.payload = undefined
    if (isFirst) frame.payload ??= NO_BYTES
    if (isLast) arrived()
    try {
      pass(frame)
    } finally {
      if (isLast) size = 0
    }
  }
  return { size: () => size, isWhole: () => size <= most, isAborted: () => aborted }
}
