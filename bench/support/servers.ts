// The servers that are measured: the service in a process of its own, and a bare Fastify route that stores nothing.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { NODE_FLAGS } from '../../packages/server/bin/node-flags.js'
import { makeCall, type CallService } from './make-call.ts'
import { startPostgres } from './postgres.ts'

export const ADMIN_KEY = 'ak_live_BenchBenchBenchBenchBenchBench01'

export interface Running {
  port: number
  pid: number
  stop(): Promise<void>
}

export interface Service extends Running {
  name: string
  admin: string
  call: CallService
  agent(scopes: string[]): Promise<{ id: string; token: string }>
  rssMb(): number
}

function spawnServer(file: string, env: Record<string, string>): Promise<{ child: ChildProcess; port: number }> {
  // The same flags as `npm start`.
  const child = spawn(
    process.execPath,
    [
      ...NODE_FLAGS,
      ...(process.env['PROF']
        ? ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', process.env['PROF']]
        : []),
      fileURLToPath(file),
    ],
    {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  return new Promise((resolve, reject) => {
    let text = ''
    const hear = (chunk: Buffer): void => {
      text += chunk
      const port = /listens on http:\/\/[^:]+:(\d+)/.exec(text)?.[1]
      if (!port) return
      child.stdout!.off('data', hear).resume()
      resolve({ child, port: Number(port) })
    }
    child.stdout!.on('data', hear)
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
}

const stopper = (child: ChildProcess) => (): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })

export async function startBare(): Promise<Running> {
  const { child, port } = await spawnServer(new URL('./bare.ts', import.meta.url).href, {})
  return { port, pid: child.pid!, stop: stopper(child) }
}

export async function startService(engine: 'sqlite' | 'postgres', env: Record<string, string> = {}): Promise<Service> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-bench-'))
  const postgres = engine === 'postgres' ? await startPostgres() : null
  const { child, port } = await spawnServer(new URL('../../packages/server/src/main.ts', import.meta.url).href, {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    SENSORIUM_SECRET: 'a-secret-for-benchmarks',
    WORKERS: '1',
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    // Enabled but never reached: the cost of limits is part of the measurement.
    RATE_LIMIT_AGENT: '1000000000',
    RATE_LIMIT_TENANT: '1000000000',
    ...(postgres ? { DATABASE_URL: postgres.url } : {}),
    ...env,
  })
  const call = makeCall(`http://127.0.0.1:${port}`)
  const exchange = async (api_key: string): Promise<string> =>
    (await call<{ access_token: string }>('POST', '/v1/auth/token', null, { api_key })).access_token
  const admin = await exchange(ADMIN_KEY)
  const stop = stopper(child)
  return {
    name: engine,
    port,
    pid: child.pid!,
    admin,
    call,
    async agent(scopes) {
      const { id } = await call<{ id: string }>('POST', '/v1/agents', admin, {
        name: 'bench',
        delivery_mode: 'poll',
        client_type: 'other',
      })
      const { key } = await call<{ key: string }>('POST', `/v1/agents/${id}/keys`, admin, { scopes })
      return { id, token: await exchange(key) }
    },
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    async stop() {
      await stop()
      await postgres?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
