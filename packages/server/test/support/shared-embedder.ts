// The built-in model, loaded once for all services of a test process: reading 23 MB, checking them and making a session of
// them takes half a second of CPU each time. What it said of a text it would say again, so the same text, which the tests
// of the second engine bring, is read once.
import { builtinEmbedder } from '../../src/memory/embed/builtin.ts'
import type { Embedded, Embedder } from '../../src/memory/embed/embedding.ts'

let model: Embedder | undefined
const known = new Map<string, Promise<Embedded[]>>()

async function read(text: string): Promise<Embedded[]> {
  let windows = known.get(text)
  if (!windows) {
    windows = model!.embed([text]).then(([first]) => first!)
    known.set(text, windows)
    // A thread that died is asked again.
    windows.catch(() => known.delete(text))
  }
  // Copies: who gets them may give their bytes away.
  return structuredClone(await windows)
}

/** One service's hold on it: what it still waits for when it closes fails, and the model goes on. */
export function sharedEmbedder(): Embedder {
  model ??= builtinEmbedder()
  const { query } = model
  const closing = Promise.withResolvers<never>()
  closing.promise.catch(() => {})
  return {
    ...model,
    embed: (texts) => Promise.race([Promise.all(texts.map(read)), closing.promise]),
    query: (text) => Promise.race([query(text), closing.promise]),
    close: async () => closing.reject(new Error('the service is closed')),
  }
}
