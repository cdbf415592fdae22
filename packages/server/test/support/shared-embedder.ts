// The built-in model, loaded once for all services of a test process: reading 23 MB, checking them and creating a
// session takes half a second of CPU each time. Its vectors are cached too, because the tests of the second engine
// embed the same texts again.
import { builtinEmbedder } from '../../src/memory/embed/builtin.ts'
import type { EmbeddedWindow, Embedder } from '../../src/memory/embed/embedder.ts'

/** A text of more characters takes the model seconds. One is embedded at a time: the others can be given up. */
const LONG = 1_000

interface LongText {
  text: string
  /** The services that wait for it: after the last of them has closed, it is not embedded. */
  services: Set<symbol>
  begin(): void
  giveUp(error: Error): void
}

let model: Embedder | undefined
const known = new Map<string, { windows: Promise<EmbeddedWindow[]>; services: Set<symbol> }>()
const waiting: LongText[] = []
let isUnderWay = false

function next(): void {
  if (isUnderWay || waiting.length === 0) return
  isUnderWay = true
  waiting.shift()!.begin()
}

const embed = async (text: string): Promise<EmbeddedWindow[]> => (await model!.embed([text]))[0]!

async function embedInTurn(text: string, services: Set<symbol>): Promise<EmbeddedWindow[]> {
  await new Promise<void>((begin, giveUp) => {
    waiting.push({ text, services, begin, giveUp })
    next()
  })
  try {
    return await embed(text)
  } finally {
    isUnderWay = false
    next()
  }
}

async function read(text: string, service: symbol): Promise<EmbeddedWindow[]> {
  let entry = known.get(text)
  if (!entry) {
    const services = new Set([service])
    entry = { windows: text.length > LONG ? embedInTurn(text, services) : embed(text), services }
    known.set(text, entry)
    // After the thread died, or nobody waited for it any more, the text is embedded again.
    const mine = entry
    entry.windows.catch(() => {
      if (known.get(text) === mine) known.delete(text)
    })
  }
  entry.services.add(service)
  // Copies, because the caller may transfer their bytes.
  return structuredClone(await entry.windows)
}

/** Gives up the long texts that only this service waits for. */
function giveUp(service: symbol): void {
  for (const { services } of known.values()) services.delete(service)
  for (const one of waiting.splice(0)) {
    if (one.services.size > 0) waiting.push(one)
    else {
      known.delete(one.text)
      one.giveUp(new Error('no service waits for it'))
    }
  }
}

/** The shared model for one service: when it closes, its pending calls fail and the model stays loaded. */
export function sharedEmbedder(): Embedder {
  model ??= builtinEmbedder()
  const { query } = model
  const service = Symbol()
  const closing = Promise.withResolvers<never>()
  closing.promise.catch(() => {})
  return {
    ...model,
    embed: (texts) => Promise.race([Promise.all(texts.map((text) => read(text, service))), closing.promise]),
    query: (text, tenantId) => Promise.race([query(text, tenantId), closing.promise]),
    async close() {
      closing.reject(new Error('the service is closed'))
      giveUp(service)
    },
  }
}
