// The built-in model, loaded once for all services of a test process: reading 23 MB, checking them and making a session of
// them takes half a second of CPU each time.
import { builtinEmbedder } from '../../src/memory/embed/builtin.ts'
import type { Embedder } from '../../src/memory/embed/embedding.ts'

let model: Embedder | undefined

/** One service's hold on it: what it still waits for when it closes fails, and the model goes on. */
export function sharedEmbedder(): Embedder {
  model ??= builtinEmbedder()
  const { embed, query } = model
  const closing = Promise.withResolvers<never>()
  closing.promise.catch(() => {})
  return {
    ...model,
    embed: (texts) => Promise.race([embed(texts), closing.promise]),
    query: (text) => Promise.race([query(text), closing.promise]),
    close: async () => closing.reject(new Error('the service is closed')),
  }
}
