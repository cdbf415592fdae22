// A wire between a client and a server that a test can cut and mend.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Wire {
  port: number
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>
  /** Carries nothing any more and breaks nothing: what a server does that hangs. */
  freeze(): void
  mend(): Promise<void>
}

export async function layWire(toPort: number): Promise<Wire> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(toPort, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
    freeze() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    mend: () => listen(port),
  }
}
