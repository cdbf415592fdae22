// What an attack is, and what attacks are made of: sockets, requests, events and memories.
import { randomBytes } from 'node:crypto'
import net from 'node:net'

/** The addresses of the attackers, of which none is the neighbour's, begin with this. */
const ATTACKERS = '127.0.0.'
const FIRST_ATTACKER = 2

export interface Target {
  port: number
  /** The token of the attacker's own agent, in a tenant of its own. */
  token: string
  agentId: string
  /** A memory of the attacker, if the attack needs one. */
  memoryId?: string
  /** The same of an event. */
  eventId?: string
}

/** Calls the API as the attacker's own agent. */
export type CallAsAttacker = (method: string, path: string, body?: unknown) => Promise<unknown>

/** What an attack has done so far. */
export interface Done {
  bytes: number
  /** The responses that were read, by status. */
  statuses: Record<string, number>
}

export interface Attack {
  /** Creates what the attack needs, such as memories and interests. */
  prepare?(call: CallAsAttacker, target: Target): Promise<void>
  /** Attacks until its process ends. */
  run(target: Target): () => Done
}

interface FloodOptions {
  /** Whether responses are read, as they are by default. */
  read?: boolean
  /** After this many milliseconds a connection sends again. */
  every?: number
  /** What it sends then, if that is not what it sent first. */
  again?: string
  /** From how many addresses the connections come. */
  addresses?: number
}

/** Opens connections that send `bytes()`, and replaces each that is closed. */
export function flood(port: number, connections: number, bytes: () => string, options: FloodOptions = {}): () => Done {
  const { read = true, every, again, addresses = 1 } = options
  const sockets = new Set<net.Socket>()
  const statuses: Record<string, number> = {}
  let sentByClosed = 0
  const open = (i: number): void => {
    const localAddress = ATTACKERS + (FIRST_ATTACKER + (i % addresses))
    const socket = net.connect({ port, host: '127.0.0.1', localAddress })
    sockets.add(socket)
    socket.on('connect', () => socket.write(bytes()))
    if (read) socket.on('data', (chunk) => countStatuses(chunk, statuses))
    else socket.pause()
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      sentByClosed += socket.bytesWritten
      setTimeout(open, 50, i)
    })
  }
  for (let i = 0; i < connections; i++) open(i)
  // A socket gets the next bytes only after it has sent the last ones, so that the attacker's own memory does not fill.
  const sendAgain = (): void => {
    for (const socket of sockets)
      if (!socket.connecting && !socket.destroyed && socket.writableLength === 0) socket.write(again ?? bytes())
  }
  if (every !== undefined) setInterval(sendAgain, every)
  return () => ({ bytes: [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sentByClosed), statuses })
}

/** Counts the heads of responses. One that lies in two chunks is left out. */
function countStatuses(chunk: Buffer, statuses: Record<string, number>): void {
  for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g))
    statuses[status!] = (statuses[status!] ?? 0) + 1
}

export const get = (path: string, token?: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}${headers}\r\n`

export function post(
  path: string,
  token: string | null,
  body: string,
  headers = '',
  type = 'application/json',
): string {
  const authorization = token === null ? '' : `Authorization: Bearer ${token}\r\n`
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${type}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

let n = 0
export const event = (data: string): string =>
  `{"specversion":"1.0","type":"attack.x","source":"/a","id":"a-${process.pid}-${randomBytes(4).toString('hex')}-${n++}","data":${data}}`
export const repeated = (part: string, bytes: number): string =>
  `[${Array(Math.floor(bytes / (part.length + 1)))
    .fill(part)
    .join(',')}]`
export const memory = (content: string, metadata = '{}'): string =>
  `{"type":"semantic","scope":"agent","title":"Large","content":${JSON.stringify(content)},"metadata":${metadata}}`
export const interest = (event_type: string, filter_expression: string | null = null) => ({
  event_type,
  filter_expression,
  priority: 0,
  enrichment_depth: 'none',
})
