// A broker that opens a connection, a session and a link as it should, and then sends any bytes that a test says.
import { createServer, type AddressInfo, type Socket } from 'node:net'
import * as amqp from './amqp-bytes.ts'

const AMQP_HEADER = Buffer.from('AMQP\x00\x01\x00\x00', 'latin1')
const SASL_HEADER = Buffer.from('AMQP\x03\x01\x00\x00', 'latin1')
const SASL_INIT = 0x41

export interface HostileBroker {
  url: string
  connections(): number
  /** The number of connections that are closed. */
  closed(): number
  /** How many frames of this kind have come. */
  received(code: number): number
  close(): Promise<void>
}

export interface Attack {
  /** Fields of the `open` from its idle timeout on. */
  openFields?: readonly Buffer[]
  /** Called once for each connection, when the link is open and messages were asked for. */
  asked?(socket: Socket): void
}

export async function startHostileBroker({ openFields = [], asked }: Attack): Promise<HostileBroker> {
  const { composite, frame, NULL, FALSE, uint, ushort, string, symbol, SASL_FRAME } = amqp
  const sockets: Socket[] = []
  const received: number[] = []
  const haveAsked = new Set<Socket>()
  let closed = 0

  function answer(socket: Socket, code: number, name: () => string): void {
    const say = (body: Buffer, type?: number): void => void socket.write(frame(body, { type: type ?? 0 }))
    if (code === SASL_INIT) say(composite(0x44, Buffer.from([0x50, 0])), SASL_FRAME)
    else if (code === amqp.OPEN) say(composite(amqp.OPEN, string('evil'), NULL, uint(65_536), ushort(9), ...openFields))
    else if (code === amqp.BEGIN) say(composite(amqp.BEGIN, ushort(0), uint(0), uint(2_048), uint(2_048)))
    else if (code === amqp.ATTACH)
      say(composite(amqp.ATTACH, string(name()), uint(0), FALSE, NULL, NULL, NULL, NULL, NULL, FALSE, uint(0)))
    else if (code === amqp.FLOW && !haveAsked.has(socket)) {
      haveAsked.add(socket)
      asked?.(socket)
    }
  }

  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('close', () => closed++)
    let bytes: Buffer = Buffer.alloc(0)
    let headers = 0
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length >= 8) {
        const isHeader = bytes.toString('latin1', 0, 4) === 'AMQP'
        const size = isHeader ? 8 : bytes.readUInt32BE(0)
        if (bytes.length < size) return
        if (isHeader) {
          socket.write(headers++ === 0 ? SASL_HEADER : AMQP_HEADER)
          if (headers === 1) socket.write(frame(composite(0x40, symbol('ANONYMOUS')), { type: SASL_FRAME }))
        } else if (size > 8) {
          // Frame, descriptor, list with lengths of a byte or of four, then the name with a length of a byte.
          const code = bytes[10]!
          const first = bytes[11] === 0xc0 ? 14 : 20
          received[code] = (received[code] ?? 0) + 1
          const one = bytes
          answer(socket, code, () => one.toString('latin1', first + 2, first + 2 + one[first + 1]!))
        }
        bytes = bytes.subarray(size)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `amqp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.length,
    closed: () => closed,
    received: (code) => received[code] ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
