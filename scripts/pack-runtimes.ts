// The embedding runtime as one package per platform. onnxruntime-node carries the binaries of all platforms, 288 MB,
// and an install script that fetches those for GPUs. Of our packages npm installs the matching one, 25 to 65 MB, and
// runs no script.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PLATFORMS, publishing, runtimeName } from './published-manifest.ts'

interface Wanted {
  root: string
  into: string
  version: string
  /** Packs the runtime of this platform only. */
  here: boolean
}

const HERE = `${process.platform}-${process.arch}`

/** Creates the package folders and returns them. */
export function packRuntimes({ root, into, version, here }: Wanted): string[] {
  const source = path.join(root, 'node_modules/onnxruntime-node')
  const runtime = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  return PLATFORMS.filter((platform) => !here || platform === HERE).map((platform) => {
    const [system, processor] = platform.split('-') as [string, string]
    const binaries = path.join('bin/napi-v6', system, processor)
    if (!existsSync(path.join(source, binaries)))
      throw new Error(`${binaries} of onnxruntime-node is not there: a plain start leaves it out; run npm run pretest`)
    const folder = path.join(into, platform)
    mkdirSync(folder, { recursive: true })
    const left = (file: string): boolean => !/\.map$|libonnxruntime\.\d+\.\d+\.\d+\.dylib$/.test(file)
    for (const part of ['dist', binaries])
      cpSync(path.join(source, part), path.join(folder, part), { recursive: true, filter: left })
    const manifest = {
      name: runtimeName(platform),
      version,
      description: `The part of onnxruntime-node ${runtime.version} that Sensorium needs on ${platform}`,
      license: 'MIT',
      author: 'Microsoft Corporation',
      main: 'dist/index.js',
      types: 'dist/index.d.ts',
      files: ['dist', 'bin'],
      os: [system],
      cpu: [processor],
      dependencies: { 'onnxruntime-common': runtime.dependencies['onnxruntime-common'] },
      ...publishing(),
    }
    writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    writeFileSync(
      path.join(folder, 'README.md'),
      `# ${runtimeName(platform)}\n\n${manifest.description}, unchanged: its JavaScript and the CPU binaries of one platform. Use [onnxruntime-node](https://www.npmjs.com/package/onnxruntime-node) for anything else.\n`,
    )
    cpSync(path.join(root, 'scripts/onnxruntime-licence.txt'), path.join(folder, 'LICENSE'))
    return folder
  })
}
