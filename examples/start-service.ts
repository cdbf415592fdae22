// A separate service for the test of an example: a process, a temporary folder, a known org-admin key and operator
// token.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'

const MAIN = path.resolve(import.meta.dirname, '../packages/server/src/main.ts')
export const ADMIN_KEY = `ak_live_${'example0'.repeat(4)}`
export const OPERATOR_TOKEN = 'operator-of-the-examples'

/** Starts the service and resolves to its address. */
export async function startService(t: TestContext, env: Record<string, string> = {}): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-example-'))
  const service = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: folder,
      BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      OPERATOR_TOKEN,
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    service.kill('SIGTERM')
    if (service.exitCode === null) await once(service, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  let printed = ''
  for await (const chunk of service.stdout) {
    printed += String(chunk)
    const url = /Sensorium listens on (\S+)/.exec(printed)?.[1]
    if (url) return url
  }
  throw new Error(`the service did not start: ${printed}`)
}
