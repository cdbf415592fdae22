// HTTP by hand over one connection, for requests that no client library lets a test send.
import { connect, type Socket } from 'node:net'

export interface RawReply {
  status: number
  headers: Record<string, string>
  body: string
}

export interface RawConnection {
  socket: Socket
  write(text: string | Uint8Array): void
  /** Resolves to the next complete response, 1xx included. Rejects when the connection ends before it. */
  reply(): Promise<RawReply>
  /** Resolves when the other side has closed. */
  closed: Promise<void>
}

export async function rawConnection(url: string, localAddress?: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, ...(localAddress ? { localAddress } : {}) })
  let pending = Buffer.alloc(0)
  // Concatenated only when the content is needed: a large response arrives in many pieces.
  const unread: Buffer[] = []
  let over = false
  let waiting: { resolve: (reply: RawReply) => void; reject: (error: Error) => void }[] = []

  function parse(): RawReply | null {
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0) return null
    const [first, ...lines] = pending.toString('latin1', 0, end).split('\r\n')
    const status = Number(first!.split(' ')[1])
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = status < 200 || status === 204 ? 0 : Number(headers['content-length'] ?? 0)
    if (pending.length < end + 4 + length) return null
    const body = pending.toString('utf8', end + 4, end + 4 + length)
    pending = pending.subarray(end + 4 + length)
    return { status, headers, body }
  }

  function serve(): void {
    if (waiting.length > 0) pending = Buffer.concat([pending, ...unread.splice(0)])
    while (waiting.length > 0) {
      const reply = parse()
      if (reply) waiting.shift()!.resolve(reply)
      else if (over) waiting.shift()!.reject(new Error('the connection ended without an answer'))
      else return
    }
  }

  socket.on('data', (chunk) => {
    unread.push(chunk)
    serve()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      over = true
      serve()
      resolve()
    })
  })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return {
    socket,
    closed,
    write: (text) => void socket.write(text),
    reply: () =>
      new Promise((resolve, reject) => {
        waiting = [...waiting, { resolve, reject }]
        serve()
      }),
  }
}
