// An import while the service is killed and started again.
import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'
import { onBothEngines } from '../support/engines.ts'
import { startProcess } from '../support/process.ts'

const LINES = 600
const KEY = 'ak_live_ImportImportImportImportImport01'

/** Returns a free port, so that the restarted service has the same address. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo
      probe.close(() => resolve(port))
    })
  })

onBothEngines((engine) => {
  test('[RCL-55] an import continues after the service was killed: each line once, progress grows', async (t) => {
    const { env, drop } = await engine.fresh()
    const settings = {
      ...{ ...env, PORT: String(await freePort()), BOOTSTRAP_ADMIN_KEY: KEY, WORKERS: '1' },
      // No embedding service listens there: vectors do not matter here, and take more CPU than all the rest.
      ...{ EMBEDDINGS: 'http://127.0.0.1:9', EMBEDDINGS_MODEL: 'none' },
    }
    let service = await startProcess(settings)
    t.after(async () => {
      await service.stop()
      await drop()
    })
    const client = createClient({ url: service.url, apiKey: KEY, attempts: 3 })
    const lines = Array.from({ length: LINES }, (_, i) => ({
      ...{ id: `line-${i}`, type: 'semantic' as const, scope: 'agent' as const },
      ...{ title: `Note ${i}`, content: 'Kept, whatever happens meanwhile.' },
    }))
    const seen: number[] = []
    let restarted: Promise<void> | undefined
    async function restart(): Promise<void> {
      service.kill('SIGKILL')
      await service.ended
      service = await startProcess(settings)
    }
    const imported = await client.memory.import(lines, {
      patienceMs: 600_000,
      progress(taken) {
        seen.push(taken)
        // While the second piece is under way.
        if (taken === 200) restarted = restart()
      },
    })
    await restarted
    assert.deepEqual(seen, [200, 400, 600])
    assert.equal(imported.created + imported.skipped, LINES)
    assert.equal(imported.failed, 0)
    assert.equal((await client.memory.list({ limit: 1 })).total, LINES)
    const again = await client.memory.import(lines)
    assert.deepEqual([again.created, again.skipped], [0, LINES])
  })
})
