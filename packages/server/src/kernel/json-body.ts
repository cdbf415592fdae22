// The body of a response as JSON text: complete, or generated in pieces while it is sent.
export type JsonBody = { text: string } | { pieces: AsyncIterable<string> }

/** The same; pieces may be bytes of UTF-8. */
export type SentBody = { text: string } | { pieces: AsyncIterable<string | Uint8Array> }

export async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}
