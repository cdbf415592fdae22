// Writes the files generated from the contract: openapi.json and the types of the client. A test compares them.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { clientTypes, openapi, operations } from '@sensorium/contract'

const root = path.dirname(import.meta.dirname)
const all = Object.values(operations)
writeFileSync(path.join(root, 'openapi.json'), JSON.stringify(openapi(all), null, 2) + '\n')
const client = path.join(root, 'packages/sdk/src/contract.ts')
writeFileSync(client, clientTypes(all))
const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome')
execFileSync(process.execPath, [biome, 'format', '--write', client], { cwd: root, stdio: ['ignore', 'ignore', 2] })
