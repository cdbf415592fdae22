// Ends requests: with the response of their operation, or with a failure.
import { envelopeOf } from '../kernel/error-envelope.ts'
import { Failure, internal, unavailable } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { OperationResponse, Pieces } from '../operations/response.ts'
import { StoreUnavailable } from '../store/db.ts'
import type { Exchange } from './exchange.ts'
import type { InHand } from './in-hand.ts'
import { largeResponses } from './large-responses.ts'
import { begunPieces, sendPieces, sendText } from './respond.ts'
import { UNCOUNTED } from './room.ts'
import { streamDeliveries } from './stream-deliveries.ts'

/** A text of no more characters takes no room: a character has at most three bytes. */
const SURELY_UNCOUNTED = UNCOUNTED / 3

export interface Responding {
  respond(response: OperationResponse, exchange: Exchange, type?: string): void | Promise<void>
  fail(error: unknown, exchange: Exchange): void
}

/** Returns what a caller may know of an error: nothing of a bug. */
function publicFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StoreUnavailable) return unavailable(error.callerMessage)
  return internal()
}

async function putBackFirst(putBack: () => Promise<void>, error: unknown): Promise<never> {
  await putBack()
  throw error
}

/** Yields pieces for as long as the token of the caller lasts: a response is read as slowly as its client likes. */
async function* whileStanding(pieces: Pieces, exchange: Exchange): AsyncGenerator<string | Uint8Array> {
  for await (const piece of pieces) {
    await exchange.requireStanding()
    yield piece
  }
}

export function makeResponding(log: Logger, inHand: Pick<InHand, 'holdUnread' | 'leave'>): Responding {
  const sendInTurn = largeResponses()

  /** Sends pieces: in turn, if they are made while they are sent. */
  async function sendMade(exchange: Exchange, status: number, pieces: Pieces, type?: string): Promise<void> {
    if (!(Symbol.asyncIterator in pieces) || !exchange.principal) return sendPieces(exchange, status, pieces, type)
    const send = () => sendPieces(exchange, status, whileStanding(pieces, exchange), type)
    await exchange.front()
    await sendInTurn(exchange.principal, send)
  }

  /** Sends what was leased: in turn only if it is over 1 MiB. What there is no room to make is put back. */
  async function sendLeased({ status, pieces, putBack }: OperationResponse, exchange: Exchange): Promise<void> {
    const begun = await begunPieces(pieces!, (length) => inHand.holdUnread(exchange, length, false)).catch(
      (error: unknown) => putBackFirst(putBack!, error),
    )
    return sendMade(exchange, status, begun)
  }

  /** Sends a text for which there is room until it is read; otherwise it is refused, unless it reports a change. */
  function sendLong(
    response: OperationResponse,
    text: string,
    exchange: Exchange,
    type?: string,
  ): void | Promise<never> {
    const isRead = response.changesNothing || response.unchanged || exchange.method === 'GET'
    // Here and not later: to count the bytes of a text takes as long as to encode it, 1 or 2 ms for a megabyte.
    const bytes = Buffer.from(text)
    try {
      inHand.holdUnread(exchange, bytes.length, !isRead)
    } catch (error) {
      if (response.putBack) return putBackFirst(response.putBack, error)
      throw error
    }
    sendText(exchange, response.status, undefined, bytes, type)
  }

  function respond(response: OperationResponse, exchange: Exchange, type?: string): void | Promise<void> {
    if (exchange.hasResponse) return response.unopened?.() ?? response.putBack?.() // its body was broken, and it was refused in the meantime
    const { status, text, json, pieces, replayed, stream } = response
    if (stream) {
      streamDeliveries(stream, exchange)
      return inHand.leave(exchange, status)
    }
    if (replayed) exchange.header('idempotent-replayed', 'true')
    if (pieces) return response.putBack ? sendLeased(response, exchange) : sendMade(exchange, status, pieces, type)
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json))
    if (body !== undefined && body.length > SURELY_UNCOUNTED && exchange.method !== 'HEAD')
      return sendLong(response, body, exchange, type)
    sendText(exchange, status, undefined, body, type)
  }

  function fail(error: unknown, exchange: Exchange): void {
    if (exchange.hasResponse) return // it was refused before, and this error follows from that
    const failure = publicFailure(error)
    const { id, path, request, response } = exchange
    // A client that disconnects in the middle of its body is no failure of ours, and nobody reads the response.
    if (failure.code === 'internal_error' && !request.socket.destroyed)
      log.error({ err: error, request_id: id, path }, 'unexpected failure')
    // Every health check of a node that leaves is refused, as it should be.
    if (failure.code === 'service_unavailable' && path !== '/readyz')
      log.warn({ err: error, request_id: id }, 'request not taken')
    if (response.headersSent) return void response.destroy()
    if (exchange.closesConnection) exchange.header('connection', 'close')
    sendText(exchange, failure.status, failure.headers, JSON.stringify(envelopeOf(failure, id)))
  }

  return { respond, fail }
}
