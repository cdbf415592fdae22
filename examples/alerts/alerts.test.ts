// The story, told to a real service in a process of its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { alerts } from './alerts.ts'

const MAIN = path.resolve(import.meta.dirname, '../../packages/server/src/main.ts')
const ADMIN_KEY = `ak_live_${'example0'.repeat(4)}`

async function start(t: TestContext): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-example-'))
  const service = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: folder,
      BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      LOG_LEVEL: 'warn',
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

test('an alarm arrives with the lesson of the one before', async (t) => {
  const { handled, receipts, found } = await alerts(await start(t), ADMIN_KEY)

  assert.deepEqual(
    handled.map(({ celsius }) => celsius),
    [93, 97],
    'the filter let the hot ones through',
  )
  assert.deepEqual(handled[0]!.remembered, [], 'nothing was known at first')
  assert.deepEqual(handled[1]!.remembered, ['Pump 7 overheated at 93 degrees'])
  assert.deepEqual(
    receipts.map(({ deliveries }) => deliveries.map(({ state }: { state: string }) => state)),
    [['acknowledged'], [], ['acknowledged']],
  )
  assert.deepEqual([...found].sort(), ['Pump 7 overheated at 93 degrees', 'Pump 7 overheated at 97 degrees'])
})
