// Bounds what one exchange with the library costs.
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCResultResponse,
  McpServer,
} from '@modelcontextprotocol/server'
import { snippet } from '../kernel/beginning-of.ts'
import { jsonPieces } from '../kernel/json-write.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Outlet } from './outlet.ts'
import type { ResultTurn } from './result-turn.ts'

/** The library puts names from the request and every problem that it finds into the text of an error. */
export const MAX_ERROR_TEXT = 500
/** Characters of a long result that go out at a time. */
const SLICE = 65_536

export interface Bounds {
  /** Resolves when the next message may be handled. Rejects if the caller's key has ended meanwhile. */
  mayBegin: Pause
  /** Resolves when the next step of a message may be done. */
  turn: Pause
  outlet: Outlet
  resultTurn: ResultTurn
}

function withShortError(message: JSONRPCErrorResponse): JSONRPCErrorResponse {
  return { ...message, error: { ...message.error, message: snippet(message.error.message, MAX_ERROR_TEXT) } }
}

/** A long result: what is written of it, and the rest. */
interface Begun {
  text: string
  pieces: Generator<string, void>
}

/** Begins to write a result. Returns null if it is short. */
function begin(result: object): Begun | null {
  const pieces = jsonPieces(result)
  let text = ''
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    text += next.value
    if (text.length > SHORT_LENGTH) return { text, pieces }
  }
  return null
}

async function finish({ text, pieces }: Begun, pause: Pause): Promise<Buffer[]> {
  const slices: Buffer[] = []
  let slice = text
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    await pause()
    slice += next.value
    if (slice.length < SLICE) continue
    slices.push(Buffer.from(slice))
    slice = ''
  }
  slices.push(Buffer.from(slice))
  return slices
}

/**
 * Makes the server send only short error texts and write long results in steps, and handle the messages of a batch one
 * after the other: the first at once, each other when the client has taken the answer to the one before and `mayBegin`
 * has resolved. A hundred requests for the list of tools are 2.3 MB, and were written in one turn of the event loop; a
 * hundred long results were all in memory. Returns the server.
 */
export function boundExchange(server: McpServer, { mayBegin, turn, outlet, resultTurn }: Bounds): McpServer {
  const connect = server.connect.bind(server)
  server.connect = async (transport) => {
    const send = transport.send.bind(transport)
    let answered = (): void => {}

    /** Ends the response: the library would leave it open, without an answer. */
    async function giveUp(error: unknown): Promise<void> {
      transport.onerror?.(error as Error)
      await transport.close()
    }

    function sendAnswer(message: JSONRPCMessage): Promise<void> {
      void outlet.taken().then(() => {
        resultTurn.leave()
        answered()
      })
      return send(message)
    }

    async function sendLong(message: JSONRPCResultResponse, begun: Begun): Promise<void> {
      await resultTurn.take()
      await sendAnswer({ ...message, result: outlet.hold(await finish(begun, turn)) })
    }

    // Protocol 2026-07-28 has no batches, and there the library sets the HTTP status by what is sent at once. So what
    // is short does not wait.
    transport.send = (message, options) => {
      if ('error' in message) return sendAnswer(withShortError(message))
      if (!('result' in message)) return send(message, options)
      const begun = begin(message.result)
      return begun ? sendLong(message, begun).catch(giveUp) : sendAnswer(message)
    }

    await connect(transport)
    const { onmessage } = transport
    /** Resolves when all messages so far are answered. */
    let before: Promise<void> | null = null
    transport.onmessage = (message, extra) => {
      const handle = (): Promise<void> => {
        const isAnswered = new Promise<void>((resolve) => (answered = resolve))
        onmessage?.(message, extra)
        return 'id' in message && 'method' in message ? isAnswered : Promise.resolve()
      }
      before = before === null ? handle() : before.then(() => handleLater(handle).catch(giveUp))
    }
  }

  async function handleLater(handle: () => Promise<void>): Promise<void> {
    await mayBegin()
    // The client may have left meanwhile.
    if (server.isConnected()) await handle()
  }
  return server
}
