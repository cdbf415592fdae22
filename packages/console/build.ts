// Builds the console into dist/ and compresses each file once, so that no node does it for each request.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const dist = path.join(import.meta.dirname, 'dist')
/** A packet holds the rest: compressing it would only cost the browser. */
const WORTH_BYTES = 1024

await build({ configFile: path.join(import.meta.dirname, 'vite.config.ts'), logLevel: 'error' })
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!/\.(js|css|html|svg)$/.test(name)) continue
  const file = path.join(dist, name)
  const bytes = readFileSync(file)
  if (bytes.length < WORTH_BYTES) continue
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes))
}
