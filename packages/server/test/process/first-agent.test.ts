// The program of docs/first-agent.md, put together from its pieces and started twice.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { startProcess } from '../support/process.ts'

const ROOT = path.resolve(import.meta.dirname, '../../../..')
const ADMIN_KEY = `ak_live_${'a'.repeat(32)}`

test('[DOC-17] the first agent of the guide runs as it is written, and remembers when it is started again', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess({ ...env, BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, LOG_LEVEL: 'warn' })
  t.after(() => service.stop())
  const guide = readFileSync(path.join(ROOT, 'docs/first-agent.md'), 'utf8')
  const pieces = [...guide.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, piece]) => piece!)
  assert.ok(pieces.length >= 4)

  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-first-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const program = pieces.join('\n').replaceAll('http://localhost:8080', service.url)
  writeFileSync(path.join(folder, 'agent.ts'), program)

  for (const remembered of [0, 1]) {
    const agent = spawn(process.execPath, ['agent.ts'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ADMIN_KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => agent.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: agent.stdout }), 'line')) as [string]
    assert.equal(line, `order/7: 240, and I remember ${remembered} things about it`)
    agent.kill('SIGINT')
    const [code] = await once(agent, 'exit')
    assert.equal(code, 0, 'it ends by itself once it was told to')
  }
})
