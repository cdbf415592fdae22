// Which release this is, as its package says.
import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

export const RELEASE = (JSON.parse(manifest) as { version: string }).version
