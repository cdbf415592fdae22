// A client that sends any bytes: one request at a time over a kept connection, or a new one when the old one is closed.
import { connect, type Socket } from 'node:net'

export interface WireReply {
  status: number
  headers: Map<string, string>
  body: Buffer
  /** Whether it is a stream, of which only the head was read. */
  streaming: boolean
}

export interface Wire {
  /**
   * Sends the bytes and returns the response, or null if the connection was closed without one or none came in time.
   */
  send(bytes: Buffer, options: { head: boolean; fresh: boolean }): Promise<WireReply | null>
  /** Whether the last request timed out, rather than its connection being closed. */
  timedOut(): boolean
  close(): void
}

/** Far longer than any request may take, even on a busy machine. */
const PATIENCE_MS = 60_000
const END = Buffer.from('\r\n\r\n')

export function openWire(port: number): Wire {
  let socket: Socket | null = null
  let received: Buffer = Buffer.alloc(0)
  let settle: ((reply: WireReply | null) => void) | null = null
  let withoutBody = false
  let timedOut = false

  function take(): WireReply | null {
    for (;;) {
      const end = received.indexOf(END)
      if (end < 0) return null
      const lines = received.toString('latin1', 0, end).split('\r\n')
      const status = Number(lines[0]!.slice(9, 12))
      if (status < 200) {
        received = received.subarray(end + 4) // 100 Continue
        continue
      }
      const headers = new Map<string, string>()
      for (let i = 1; i < lines.length; i++) {
        const line = lines[i]!
        const colon = line.indexOf(':')
        headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
      }
      if (headers.get('transfer-encoding') === 'chunked')
        return { status, headers, body: Buffer.alloc(0), streaming: true }
      const length = withoutBody || status === 204 || status === 304 ? 0 : Number(headers.get('content-length') ?? 0)
      if (received.length < end + 4 + length) return null
      const body = Buffer.from(received.subarray(end + 4, end + 4 + length))
      received = received.subarray(end + 4 + length)
      return { status, headers, body, streaming: false }
    }
  }

  function drop(): void {
    socket?.destroy()
    socket = null
    received = Buffer.alloc(0)
  }

  function finish(reply: WireReply | null): void {
    const done = settle
    settle = null
    if (reply === null || reply.streaming || reply.headers.get('connection') === 'close') drop()
    done?.(reply)
  }

  function open(): Socket {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true })
    opened.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const reply = settle && take()
      if (reply) finish(reply)
    })
    opened.on('error', () => {})
    opened.on('close', () => {
      if (socket !== opened) return
      socket = null
      finish(null)
    })
    return opened
  }

  return {
    async send(bytes, { head, fresh }) {
      if (fresh) drop()
      timedOut = false
      const impatient = setTimeout(() => {
        timedOut = true
        finish(null)
      }, PATIENCE_MS)
      const reply = await new Promise<WireReply | null>((resolve) => {
        socket ??= open()
        withoutBody = head
        settle = resolve
        socket.write(bytes)
      })
      clearTimeout(impatient)
      if (fresh) drop()
      return reply
    },
    timedOut: () => timedOut,
    close: drop,
  }
}
