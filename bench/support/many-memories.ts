// Hundreds of thousands of memories, written directly into a store. The texts are sentences of our own documentation
// with words exchanged, and each vector is a mixture of two that the model computed for such sentences, with noise. So
// words are as frequent as in English and meanings lie in clusters, without an hour of waiting for the model.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { BUILTIN_MODEL } from '../../packages/server/src/memory/embed/builtin.ts'
import type { EmbeddedWindow } from '../../packages/server/src/memory/embed/embedder.ts'
import { loadModel } from '../../packages/server/src/memory/embed/model.ts'
import type { MemoryIndex } from '../../packages/server/src/memory/index/memory-index.ts'
import { insertMemory } from '../../packages/server/src/memory/sql.ts'
import type { Store } from '../../packages/server/src/store/db.ts'
import { memoryRow } from '../../packages/server/test/memory/memory-row.ts'

const SENTENCES = 1_200
const TOGETHER = 250

/** A random generator with a seed: always the same numbers, so that two runs can be compared. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function sentences(): string[] {
  const root = path.join(import.meta.dirname, '../..')
  const found = globSync(['README.md', 'ARCHITECTURE.md', 'docs/*.md'], { cwd: root })
    .sort()
    .flatMap((file) =>
      readFileSync(path.join(root, file), 'utf8')
        .replaceAll(/```[\s\S]*?```/g, '')
        .split(/(?<=[.:;!?])\s+|\n/),
    )
    .map((text) =>
      text
        .replaceAll(/[`|#*[\]()]/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((text) => text.split(' ').length >= 8 && text.split(' ').length <= 30)
  const every = Math.max(1, Math.floor(found.length / SENTENCES))
  return found.filter((_, i) => i % every === 0).slice(0, SENTENCES)
}

export interface Material {
  texts: readonly string[]
  meanings: readonly EmbeddedWindow[]
}

export async function readMaterial(): Promise<Material> {
  const texts = sentences()
  const model = await loadModel()
  const meanings: EmbeddedWindow[] = []
  for (const text of texts) meanings.push((await model.run([model.windows(text).next().value!]))[0]!)
  return { texts, meanings }
}

export function mixed(a: Float32Array, b: Float32Array, random: () => number): Float32Array {
  const vector = a.map((x, i) => 0.7 * x + 0.5 * b[i]! + (random() - 0.5) * 0.1)
  const norm = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
  return vector.map((x) => x / norm)
}

export interface Filling {
  store: Store
  index: MemoryIndex
  tenantId: string
  agentId: string
  from: number
  to: number
}

/** Writes the memories from number `from` up to `to`, with their vectors. */
export async function fillMemories(material: Material, filling: Filling): Promise<void> {
  const { store, index, tenantId, agentId } = filling
  const { texts, meanings } = material
  const random = seededRandom(filling.from + 1)
  const any = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const write = (first: number, last: number): Promise<void> =>
    store.tx(async (tx) => {
      for (let i = first; i < last; i++) {
        const at = Math.floor(random() * texts.length)
        const words = texts[at]!.split(' ')
        const other = any(texts).split(' ')
        for (let n = 0; n < words.length / 3; n++) words[Math.floor(random() * words.length)] = any(other)
        const row = memoryRow(
          { tenant_id: tenantId, agent_id: agentId, id: `mem_${String(i).padStart(26, '0')}` },
          Date.now(),
          {
            title: `Note ${i} on ${any(other)}`,
            content: words.join(' '),
          },
        )
        await insertMemory(tx, row)
        await index.put(tx, row, undefined, {
          model: BUILTIN_MODEL,
          windows: [
            { vector: mixed(meanings[at]!.vector, any(meanings).vector, random), tokens: meanings[at]!.tokens },
          ],
        })
      }
    })
  await index.prepare()
  for (let first = filling.from; first < filling.to; ) {
    const lanes: Promise<void>[] = []
    for (let lane = 0; lane < Math.min(4, store.writers) && first < filling.to; lane++, first += TOGETHER)
      lanes.push(write(first, Math.min(filling.to, first + TOGETHER)))
    await Promise.all(lanes)
  }
}
