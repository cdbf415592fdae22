// The built-in model behind its thread, started when it is first needed: a service that embeds nothing does not pay for it.
import { makeThread } from '../../kernel/thread.ts'
import type { Embedded, Embedder } from './embedding.ts'
import type { Question } from './thread.ts'

export const BUILTIN_MODEL = 'all-MiniLM-L6-v2-q8'

export function builtinEmbedder(): Embedder {
  const thread = makeThread<Question, Embedded[][]>(new URL('./thread.ts', import.meta.url), 'embedding')
  return {
    model: BUILTIN_MODEL,
    batch: 64,
    embed: (texts) => thread.ask({ kind: 'texts', texts }),
    query: async (text) => (await thread.ask({ kind: 'query', texts: [text] }))[0]![0]!,
    close: thread.close,
  }
}
