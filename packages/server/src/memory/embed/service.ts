// Vectors from a service that speaks OpenAI's interface: POST …/embeddings `{model, input: [text, …]}`. The background
// run retries texts that the service failed to embed; a search whose query it failed to embed goes by words alone.
import { backoffMs } from '../../kernel/backoff.ts'
import type { Clock } from '../../kernel/clock.ts'
import { addressOf, postJson, ServiceFailed, type ModelService } from '../model-service.ts'
import { makeServicePauses } from '../service-pauses.ts'
import type { EmbeddedWindow, Embedder } from './embedder.ts'

/** The service's own tokens are unknown. In English this is about 500 of them, below the window of any model in use. */
const WINDOW_CHARACTERS = 2_000
const OVERLAP_CHARACTERS = 200
const MAX_INPUTS = 64
const TIMEOUT_MS = 20_000
/** A search waits no longer than this. After a failure, searches do not wait at all for a while (service-pauses.ts). */
const QUERY_TIMEOUT_MS = 2_000
const TRIES = 4
/** Queries under way at once. */
const MAX_QUERIES = 16
const NO_TOKENS = 0
/** More than any model in use has. */
const MAX_DIMENSIONS = 16_000
/** Of a response, for each text: as many numbers of sixteen characters. */
const MAX_BYTES = 262_144

/** Statuses that are about the text. All others are about the service, its key or its address, and may soon pass. */
const REFUSES_TEXT: ReadonlySet<number> = new Set([400, 413, 422])

export class EmbeddingRefused extends Error {}

export function cut(text: string): string[] {
  const parts: string[] = []
  for (let start = 0; ; start += WINDOW_CHARACTERS - OVERLAP_CHARACTERS) {
    // A character that the edge cuts in two is whole in the next window. Many services refuse half a character.
    parts.push(text.slice(start, start + WINDOW_CHARACTERS).toWellFormed())
    if (start + WINDOW_CHARACTERS >= text.length) return parts
  }
}

function normalised(numbers: unknown): Float32Array {
  if (!Array.isArray(numbers) || numbers.length === 0 || numbers.length > MAX_DIMENSIONS)
    throw new ServiceFailed('the embedding service responded without vectors')
  if (!numbers.every((number) => typeof number === 'number'))
    throw new ServiceFailed('the embedding service responded with a vector of something else than numbers')
  const vector = Float32Array.from(numbers)
  let square = 0
  for (const x of vector) square += x * x
  if (!Number.isFinite(square) || square === 0)
    throw new ServiceFailed('the embedding service responded with a vector that points nowhere')
  const scale = 1 / Math.sqrt(square)
  for (let i = 0; i < vector.length; i++) vector[i]! *= scale
  return vector
}

/** Returns the vectors of a response in the order of the inputs. */
function inOrder(answer: unknown, inputs: number): EmbeddedWindow[] {
  const { data } = (answer ?? {}) as { data?: ({ index?: unknown; embedding?: unknown } | null)[] }
  if (!Array.isArray(data) || data.length !== inputs)
    throw new ServiceFailed('the embedding service responded with another number of vectors')
  const embedded: (EmbeddedWindow | null)[] = data.map(() => null)
  for (const [i, one] of data.entries()) {
    const index = (one?.index ?? i) as number
    if (embedded[index] !== null) throw new ServiceFailed('the embedding service responded with a wrong index')
    embedded[index] = { vector: normalised(one?.embedding), tokens: new Int8Array(NO_TOKENS) }
  }
  return embedded as EmbeddedWindow[]
}

export function serviceEmbedder({ url, model, apiKey }: ModelService, clock: Clock): Embedder {
  const address = addressOf(url, 'embeddings')
  const closing = new AbortController()
  const pauses = makeServicePauses(clock)

  async function post(input: readonly string[], timeoutMs: number): Promise<EmbeddedWindow[]> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
    const asked = { model, input, encoding_format: 'float' }
    const response = await postJson(address, apiKey, asked, { signal, most: input.length * MAX_BYTES })
    if ('failed' in response) {
      const why = `the embedding service responded with ${response.failed}`
      throw REFUSES_TEXT.has(response.failed) ? new EmbeddingRefused(why) : new ServiceFailed(why)
    }
    return inOrder(response.body, input.length)
  }

  async function postWithRetries(input: readonly string[]): Promise<EmbeddedWindow[]> {
    for (let tries = 1; ; tries++) {
      try {
        return await post(input, TIMEOUT_MS)
      } catch (error) {
        if (error instanceof EmbeddingRefused || tries >= TRIES || closing.signal.aborted) throw error
        await clock.sleep(backoffMs({ firstMs: 200, maxMs: 5_000 }, tries), closing.signal)
      }
    }
  }

  return {
    model,
    batch: 32,
    isInProcess: false,
    queries: MAX_QUERIES,
    async embed(texts) {
      const parts = texts.map((text) => cut(text))
      const inputs = parts.flat()
      const embedded: EmbeddedWindow[] = []
      for (let i = 0; i < inputs.length; i += MAX_INPUTS)
        embedded.push(...(await postWithRetries(inputs.slice(i, i + MAX_INPUTS))))
      let next = 0
      return parts.map((windows) => windows.map(() => embedded[next++]!))
    },
    async query(text, tenantId) {
      if (pauses.isPaused(tenantId)) throw new Error('the embedding service failed a moment ago')
      try {
        const [embedded] = await post([text.slice(0, WINDOW_CHARACTERS).toWellFormed()], QUERY_TIMEOUT_MS)
        pauses.succeeded()
        return embedded!
      } catch (error) {
        // A refusal is about this text, and other texts may well be accepted.
        if (!(error instanceof EmbeddingRefused)) pauses.failed(tenantId, error instanceof ServiceFailed)
        throw error
      }
    },
    close: async () => closing.abort(),
  }
}
