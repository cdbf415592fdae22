// The answers that are owed on a connection, in their order, for the case that something on it turns out not to be
// HTTP.
import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'

const OWED = Symbol('owed')
type Owing = Socket & { [OWED]?: Exchange[] }

export function owe(exchange: Exchange): void {
  const socket: Owing = exchange.request.socket
  const owed = (socket[OWED] ??= [])
  owed.push(exchange)
}

export const lastOwed = (socket: Owing): Exchange | undefined => socket[OWED]?.at(-1)

/** It was answered, or nobody is there to be; the last one takes its connection with it. */
export function settle(exchange: Exchange): void {
  const socket: Owing = exchange.request.socket
  const owed = socket[OWED]!
  owed.splice(owed.indexOf(exchange), 1)
  if (exchange.isLast && owed.length === 0) socket.destroySoon()
}
