// The receiving ends of pushes and streams, as cheap as possible, so that the service is what is measured.
import net, { type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

const HEAD_END = Buffer.from('\r\n\r\n')
const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n'

/** Responds to every POST with 204 and calls `received` with its body. */
export async function startEndpoint(received: (body: string) => void): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    let buffer: Buffer = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
      for (;;) {
        const end = buffer.indexOf(HEAD_END)
        if (end < 0) return
        const length = Number(/content-length: (\d+)/i.exec(buffer.toString('latin1', 0, end))?.[1] ?? 0)
        if (buffer.length < end + 4 + length) return
        received(buffer.toString('latin1', end + 4, end + 4 + length))
        buffer = buffer.subarray(end + 4 + length)
        socket.write(NO_CONTENT)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Accepts connections and never responds. */
export async function startHangingEndpoint(): Promise<{ url: string; open(): number; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.resume()
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    open: () => sockets.size,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Calls `send` at a steady rate, with the number of each call. */
export async function steadily(perSecond: number, seconds: number, send: (i: number) => void): Promise<void> {
  const started = performance.now()
  for (let i = 0; i < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - started) * perSecond) / 1000))
    while (i < due) send(i++)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

export async function inParallel(count: number, width: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await work(next++)
    }),
  )
}
