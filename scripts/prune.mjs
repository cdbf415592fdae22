// After the installation for a plain start, removes files that no run on this platform loads. onnxruntime-node has the
// binaries of every platform in one package, 288 MB of which 25 to 65 are used, and the pinned Node.js brings the
// headers for compiling add-ons, 67 MB. npm does not check files, so it still considers the packages complete.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

/** Removes every entry of a folder except one. If that one is missing, the layout is unknown and nothing is removed. */
function keepOnly(folder, kept) {
  if (!existsSync(path.join(folder, kept))) return
  for (const name of readdirSync(folder))
    if (name !== kept) rmSync(path.join(folder, name), { recursive: true, force: true })
}

export function prune(modules, platform = process.platform, arch = process.arch) {
  const runtime = path.join(modules, 'onnxruntime-node', 'bin')
  for (const version of existsSync(runtime) ? readdirSync(runtime) : []) {
    const binaries = path.join(runtime, version)
    if (!existsSync(path.join(binaries, platform, arch, 'onnxruntime_binding.node'))) continue
    keepOnly(binaries, platform)
    keepOnly(path.join(binaries, platform), arch)
  }
  const node = path.join(modules, `node-${platform}-${arch}`)
  for (const part of ['include', 'share']) rmSync(path.join(node, part), { recursive: true, force: true })
}
