// A proxy between a client and a server that a test can cut and mend.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Wire {
  port: number
  /** How many connections were opened over it so far. */
  opened(): number
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>
  /** Stops carrying data without closing connections, like a server that hangs. */
  freeze(): void
  /** The same, and new connections get no answer either, like a machine that lost its power. */
  vanish(): void
  mend(): Promise<void>
  /** Directs new connections to another port. */
  lead(toPort: number): void
}

export async function layWire(port: number): Promise<Wire> {
  let toPort = port
  const sockets = new Set<Socket>()
  let gone = false
  let opened = 0
  const server = createServer((near) => {
    opened++
    if (gone) {
      sockets.add(near.pause().on('error', () => {}))
      return
    }
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
  const own = (server.address() as AddressInfo).port
  const freeze = (): void => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  return {
    port: own,
    opened: () => opened,
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
    freeze,
    vanish() {
      gone = true
      freeze()
    },
    mend() {
      gone = false
      return listen(own)
    },
    lead: (other) => void (toPort = other),
  }
}

/** Lays a wire to the database at `url`. A client that is given the URL that comes back goes over the wire. */
export async function layWireTo(url: string): Promise<{ wire: Wire; url: string }> {
  const wired = new URL(url)
  const wire = await layWire(Number(wired.port))
  wired.port = String(wire.port)
  return { wire, url: wired.href }
}
