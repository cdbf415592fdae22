// The built-in model, loaded once for all services of a test process: reading 23 MB, checking them and creating a
// session takes half a second of CPU each time. Its vectors are cached too, because the tests of the second engine
// embed the same texts again.
import { builtinEmbedder } from '../../src/memory/embed/builtin.ts'
import type { Embedded, Embedder } from '../../src/memory/embed/embedding.ts'

let model: Embedder | undefined
const known = new Map<string, Promise<Embedded[]>>()

async function read(text: string): Promise<Embedded[]> {
  let windows = known.get(text)
  if (!windows) {
    windows = model!.embed([text]).then(([first]) => first!)
    known.set(text, windows)
    // After the thread died the text is embedded again.
    windows.catch(() => known.delete(text))
  }
  // Copies, because the caller may transfer their bytes.
  return structuredClone(await windows)
}

/** The shared model for one service: when it closes, its pending calls fail and the model stays loaded. */
export function sharedEmbedder(): Embedder {
  model ??= builtinEmbedder()
  const { query } = model
  const closing = Promise.withResolvers<never>()
  closing.promise.catch(() => {})
  return {
    ...model,
    embed: (texts) => Promise.race([Promise.all(texts.map(read)), closing.promise]),
    query: (text, tenantId) => Promise.race([query(text, tenantId), closing.promise]),
    close: async () => closing.reject(new Error('the service is closed')),
  }
}
