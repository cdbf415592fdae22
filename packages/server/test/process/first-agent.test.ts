// The agents in the documentation, run twice exactly as written.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { createClient } from '@sensorium/client'
import { COMPILE_CACHE, startProcess } from '../support/process.ts'
import { ROOT } from '../support/root.ts'

const ADMIN_KEY = `ak_live_${'a'.repeat(32)}`

const piecesOf = (page: string): string[] =>
  [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, piece]) => piece!)

/** Starts a service, and makes a folder in which programs can import the client. */
async function startWithFolder(t: TestContext) {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess({ ...env, BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, LOG_LEVEL: 'warn' })
  t.after(() => service.stop())
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-first-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  return {
    url: service.url,
    write: (program: string): void =>
      writeFileSync(path.join(folder, 'agent.ts'), program.replaceAll('http://localhost:8080', service.url)),
    start(given: Record<string, string>) {
      const agent = spawn(process.execPath, ['agent.ts'], {
        cwd: folder,
        env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILE_CACHE, ...given },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      t.after(() => agent.kill('SIGKILL'))
      return agent
    },
  }
}

test('[DOC-17] the first agent of the guide runs as written, and remembers when started again', async (t) => {
  const pieces = piecesOf('docs/first-agent.md')
  assert.ok(pieces.length >= 4)
  const { write, start } = await startWithFolder(t)
  write(pieces.join('\n'))

  for (const remembered of [0, 1]) {
    const agent = start({ ADMIN_KEY })
    const [line] = (await once(createInterface({ input: agent.stdout }), 'line')) as [string]
    assert.equal(line, `order/7: 240, and I remember ${remembered} things about it`)
    agent.kill('SIGINT')
    const [code] = await once(agent, 'exit')
    assert.equal(code, 0, 'it ends by itself once it was told to')
  }
})

for (const page of ['README.md', 'packages/sdk/README.md'])
  test(`[DOC-17] the agent of ${page} runs as written, twice`, async (t) => {
    const { url, write, start } = await startWithFolder(t)
    write(piecesOf(page)[0]!)
    const admin = createClient({ url, apiKey: ADMIN_KEY })
    const { agents } = await admin.ensure({
      agents: [
        { external_id: 'agent', name: 'Agent', delivery_mode: 'poll', client_type: 'other' },
        { external_id: 'reader', name: 'Reader', delivery_mode: 'poll', client_type: 'other' },
      ],
    })
    const keyOf = async (name: string): Promise<string> => {
      const scopes = ['send', 'receive', 'interests:read', 'interests:write', 'memory:read', 'memory:write'] as const
      return (await admin.keys.mint(agents[name]!.id, { scopes: [...scopes] })).key
    }
    const reader = createClient({ url, apiKey: await keyOf('reader') })
    await reader.ensure({ interests: [{ event_type: 'com.plant.*advice' }] })
    const SENSORIUM_KEY = await keyOf('agent')

    for (const run of ['first', 'second']) {
      const agent = start({ SENSORIUM_KEY })
      const ended = once(agent, 'exit')
      // Whether the agent has begun or not, the event waits in its mailbox once the interest exists.
      while ((await admin.interests.list(agents['agent']!.id)).interests.length === 0)
        assert.equal(agent.exitCode, null, 'it goes on')
      await admin.publish({ type: 'com.plant.pump.measured', source: '/p', data: { pump: 7, celsius: 93 } })
      for (let heard = 0; heard === 0; ) {
        assert.equal(agent.exitCode, null, `the ${run} run goes on`)
        const { deliveries } = await reader.deliveries.poll({ wait: 5 })
        heard = await reader.deliveries.ack(deliveries.map(({ id }) => id).concat('none'))
      }
      agent.kill('SIGTERM')
      assert.equal((await ended)[0], 0, `the ${run} run ends by itself once it was told to`)
    }
  })
