// Server-sent events: the deliveries of a stream, as they arrive.
import type { Delivery } from './contract.ts'

/** Each `data:` of the stream, parsed. Ends when the stream does. */
export async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<Delivery, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      // A block ends with an empty line; the last piece may go on in the next chunk.
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        const lines = block.split('\n')
        if (!lines.includes('event: delivery')) continue
        yield JSON.parse(
          lines
            .filter((line) => line.startsWith('data: '))
            .map((line) => line.slice(6))
            .join('\n'),
        ) as Delivery
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
