// Streams of server-sent events, opened with a token and read as they arrive.
import { ConnectionError } from './errors.ts'
import { openBody } from './open.ts'
import type { Connection, OperationId } from './request.ts'
import type { Tokens } from './tokens.ts'

const EVENTS = 'text/event-stream'

/** Opens a stream in a single attempt and returns its body. The reader opens it again after a failure. */
export const openStream = (
  connection: Connection,
  tokens: Tokens,
  operation: OperationId,
  query: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<ReadableStream<Uint8Array>> =>
  openBody(connection, tokens, { operation, query, headers: { accept: EVENTS }, type: EVENTS, attempts: 1, signal })

/** The service sends something every 15 s, so after this long a silence the connection counts as dead. */
const SILENCE_MS = 60_000
/** An event has at most 1 MiB unless configured otherwise, and its enrichment comes on top. */
const MAX_BLOCK = 64 * 1024 * 1024

/** Reads the next chunk of the stream; rejects after too long a silence. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>, silenceMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectionError(`nothing came for ${silenceMs / 1000} s`)), silenceMs)
  })
  try {
    return await Promise.race([reader.read(), silence])
  } catch (error) {
    throw error instanceof ConnectionError ? error : new ConnectionError('the stream broke off', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

export interface StreamEvent {
  event: string
  data: string
}

/** Yields each event of the stream that has a name. Ends when the stream does. */
export async function* readStream(
  body: ReadableStream<Uint8Array>,
  silenceMs = SILENCE_MS,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await next(reader, silenceMs)
      if (done) return
      text += decoder.decode(value, { stream: true })
      // A block ends with an empty line; the last piece may go on in the next chunk.
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      if (text.length > MAX_BLOCK) throw new ConnectionError('a piece of the stream has no end')
      for (const block of blocks) {
        const lines = block.split('\n')
        const event = lines.find((line) => line.startsWith('event: '))?.slice(7)
        if (event === undefined) continue
        const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
        yield { event, data: data.join('\n') }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
