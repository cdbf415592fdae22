// A connection that sends what `fetch` would never send: half a body, a broken request line, two requests at once.
import net from 'node:net'
import { once } from 'node:events'

export interface RawAnswer {
  status: number
  headers: Headers
  text: string
}

export interface RawConnection {
  send(bytes: string | Uint8Array): void
  /** The next answer on this connection; rejects when the other side closes before it. */
  answer(): Promise<RawAnswer>
  close(): void
}

function parse(bytes: Buffer): { answer: RawAnswer; length: number } | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Headers(lines.map((header) => [header.slice(0, header.indexOf(':')), header.slice(header.indexOf(':') + 1).trim()] as [string, string]))
  const length = end + 4 + Number(headers.get('content-length') ?? 0)
  if (bytes.length < length) return null
  return { answer: { status: Number(line.split(' ')[1]), headers, text: bytes.toString('utf8', end + 4, length) }, length }
}

export async function connect(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  let received = Buffer.alloc(0)
  let ended = false
  let wake = (): void => {}
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  socket.on('close', () => {
    ended = true
    wake()
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    send: (bytes) => void socket.write(bytes),
    async answer() {
      for (;;) {
        const parsed = parse(received)
        if (parsed) {
          received = received.subarray(parsed.length)
          return parsed.answer
        }
        if (ended) throw new Error(`the connection was closed after ${received.length} bytes of an answer`)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    close: () => void socket.destroy(),
  }
}
