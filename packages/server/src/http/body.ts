// Bodies, read with a limit while they stream in: nothing over the limit is ever held.
import type { IncomingMessage } from 'node:http'
import { tooLarge } from '../kernel/failure.ts'

export { jsonDepth, MAX_DEPTH, mediaType, parseJson, type ParsedJson } from '../kernel/json.ts'

/**
 * The whole body, or payload_too_large as soon as it is certain. The rest of a refused body is thrown away as it
 * arrives.
 */
export function readBody(stream: IncomingMessage, limit: number): Promise<Buffer> {
  const declared = stream.headers['content-length']
  const length = declared === undefined ? NaN : Number(declared)
  if (length > limit) {
    stream.resume()
    return Promise.reject(tooLarge(length, limit))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        chunks.length = 0
        stream.removeAllListeners('data').resume()
        reject(tooLarge(size, limit))
        return
      }
      chunks.push(chunk)
    })
    stream.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    stream.once('error', reject)
    // Every request closes; only one that did not end is worth an error, whose stack costs as much as the rest of this.
    stream.once('close', () => stream.readableEnded || reject(new Error('the client went away')))
  })
}
