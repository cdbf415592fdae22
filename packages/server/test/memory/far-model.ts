// A model that is far away: it knows nothing of a text, and is as slow or as broken as a test wants.
import type { Embedder } from '../../src/memory/embed/embedder.ts'

/** `asked` hears of the texts of each call, before their vectors are returned. */
export const farModel = (
  model: string,
  asked: (texts: readonly string[]) => void | Promise<void> = () => {},
): Embedder => ({
  model,
  batch: 32,
  isInProcess: false,
  queries: 1,
  async embed(texts) {
    await asked(texts)
    return texts.map(() => [{ vector: new Float32Array(8).fill(0.35), tokens: new Int8Array(64) }])
  },
  query: async () => ({ vector: new Float32Array(8), tokens: new Int8Array(64) }),
  close: async () => {},
})
