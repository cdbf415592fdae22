// Makes the connection of a push when the turn of its handshake comes.
import type { Clock } from '../kernel/clock.ts'
import type { ConnectInTurn, Handshakes } from './handshakes.ts'
import type { OutgoingPush, UnderWay } from './send-once.ts'

/** A push that waited for longer to connect, and then was not connected in time, is not held against its endpoint. */
const LATE_MS = 1_000

export const connectInTurn =
  (clock: Clock, handshakes: Handshakes, { mailbox, url }: OutgoingPush, exchange: UnderWay): ConnectInTurn =>
  async (connect) => {
    const since = clock.elapsed()
    const turn = handshakes.begin(mailbox.recipientId, url.origin)
    const left = new Promise<never>((_, reject) => (exchange.leaveLine = reject))
    const ended = await Promise.race([turn, left]).catch((error: Error) => {
      void turn.then((end) => end(null))
      throw error
    })
    exchange.leaveLine = null
    exchange.isLate = clock.elapsed() - since > LATE_MS
    try {
      const socket = connect()
      socket.once('secureConnect', () => ended(true))
      socket.once('close', () => ended(false))
      return socket
    } catch (error) {
      ended(false)
      throw error
    }
  }
