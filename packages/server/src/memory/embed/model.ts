// The built-in model: all-MiniLM-L6-v2 with 8-bit weights, 384 dimensions, run by onnxruntime. Used inside the
// embedding threads only, because onnxruntime blocks the thread that calls it while it computes.
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import path from 'node:path'
import type { InferenceSession as Session } from 'onnxruntime-node'
import type { EmbeddedWindow } from './embedder.ts'
import { loadRuntime, modelFolder } from './model-files.ts'
import { makeTokenise } from './tokenise.ts'
import { projectionModel, quantise, TOKEN_SIZE } from './tokens.ts'
import { makeWindows, type Windowed, type Windows } from './windows.ts'

const SHA256 = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1'
const DIMENSIONS = 384

export interface Model {
  windows: Windows
  /** Runs windows of any length in one pass. Several in a pass change each other's vectors: work-queue.ts says why. */
  run(batch: readonly Windowed[]): Promise<EmbeddedWindow[]>
}

/** Reads in pieces: 23 MB that are read at once stay in memory until they are garbage-collected. */
async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Returns the path of the weights. Throws if they are not the ones that this release was made with. */
export async function verifiedWeights(folder: string): Promise<string> {
  const weights = path.join(folder, 'onnx/model_quantized.onnx')
  const hash = await hashOf(weights)
  if (hash !== SHA256)
    throw new Error(`the built-in model has sha256 ${hash} and not ${SHA256}: it was damaged or replaced`)
  return weights
}

const readJson = (file: string): object => JSON.parse(readFileSync(file, 'utf8')) as object

export async function loadModel(threads = 1): Promise<Model> {
  const { InferenceSession, Tensor } = loadRuntime()
  const folder = modelFolder()
  const weights = await verifiedWeights(folder)
  const tokenise = makeTokenise(
    readJson(path.join(folder, 'tokenizer.json')),
    readJson(path.join(folder, 'tokenizer_config.json')),
  )
  // With several threads, they do not spin while they wait for each other: events need the processors too.
  const options: Session.SessionOptions = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableMemPattern: false,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }
  const session = await InferenceSession.create(weights, options)
  const projection = await InferenceSession.create(projectionModel(), { ...options, intraOpNumThreads: 1 })

  // The model writes into the same buffers again and again: new arrays for each batch would become garbage faster than
  // it is collected.
  let states = new Float32Array(0)
  let points = new Float32Array(0)

  async function run(batch: readonly Windowed[]): Promise<EmbeddedWindow[]> {
    const width = Math.max(...batch.map(({ ids }) => ids.length))
    const ids = new BigInt64Array(batch.length * width)
    const mask = new BigInt64Array(batch.length * width)
    batch.forEach((window, row) => {
      for (let i = 0; i < window.ids.length; i++) {
        ids[row * width + i] = BigInt(window.ids[i]!)
        mask[row * width + i] = 1n
      }
    })
    const shape = [batch.length, width]
    const size = batch.length * width
    if (states.length < size * DIMENSIONS) {
      states = new Float32Array(size * DIMENSIONS)
      points = new Float32Array(size * TOKEN_SIZE)
    }
    const hidden = new Tensor('float32', states.subarray(0, size * DIMENSIONS), [...shape, DIMENSIONS])
    const projected = new Tensor('float32', points.subarray(0, size * TOKEN_SIZE), [...shape, TOKEN_SIZE])
    await session.run(
      {
        input_ids: new Tensor('int64', ids, shape),
        attention_mask: new Tensor('int64', mask, shape),
        token_type_ids: new Tensor('int64', new BigInt64Array(size), shape),
      },
      { last_hidden_state: hidden },
    )
    await projection.run({ hidden }, { projected })
    return batch.map((window, row) => ({
      vector: pooled(states, row * width, window.ids.length),
      tokens: tokensOf(points, row * width, window.meaning),
      ...(window.isUnread && { isUnread: true }),
    }))
  }

  return { windows: makeWindows(tokenise), run }
}

/** The mean of the token vectors, brought to length 1. */
function pooled(states: Float32Array, first: number, count: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  for (let token = first; token < first + count; token++) {
    const at = token * DIMENSIONS
    for (let i = 0; i < DIMENSIONS; i++) vector[i]! += states[at + i]!
  }
  let square = 0
  for (let i = 0; i < DIMENSIONS; i++) square += vector[i]! ** 2
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0
  for (let i = 0; i < DIMENSIONS; i++) vector[i]! *= scale
  return vector
}

function tokensOf(points: Float32Array, first: number, meaning: readonly boolean[]): Int8Array {
  const tokens = new Int8Array(meaning.filter(Boolean).length * TOKEN_SIZE)
  let offset = 0
  meaning.forEach((carries, i) => {
    if (!carries) return
    quantise(points, (first + i) * TOKEN_SIZE, tokens, offset)
    offset += TOKEN_SIZE
  })
  return tokens
}
