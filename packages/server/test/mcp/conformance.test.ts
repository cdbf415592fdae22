// The official conformance suite against the service. It calls tools that only a sample server has; those scenarios,
// and those of features that the service does not offer, are in the baseline with the reason.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { ROOT } from '../support/root.ts'
import { startService, type Service } from '../support/service.ts'

const SUITE = path.join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const BASELINE = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'conformance-baseline.json'), 'utf8'),
) as Record<string, string>

/** The suite exits with 1 when a scenario fails. For each it prints last how many of its checks failed. */
async function runSuite(...args: string[]): Promise<{ all: string[]; failed: string[]; text: string }> {
  const options = { maxBuffer: 1 << 24 }
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [SUITE, ...args], options, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  const told = [...text.matchAll(/^[✓✗] (\S+): \d+ passed, (\d+) failed$/gm)]
  assert.ok(told.length > 0, text)
  const names = (which: typeof told): string[] => which.map(([, name]) => name!).sort()
  return { all: names(told), failed: names(told.filter(([, , failures]) => failures !== '0')), text }
}

let service: Service
let url: string
let close: () => void

before(async () => {
  service = await startService(sqlite)
  const agent = await (await service.tenant()).agent()
  // The suite sends no credentials: this proxy adds them, and changes nothing else. It does not close idle connections,
  // because on a busy machine it could close one that is just being used.
  const front = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${agent.token}` }
    const options = { method: incoming.method!, headers, agent: false }
    const onward = request(service.url + incoming.url, options, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`
  close = () => {
    front.closeAllConnections()
    front.close()
  }
})
after(async () => {
  close()
  await service.stop()
})

test('[MCP-9] every scenario of the suite passes, except those in the baseline, each with a reason', async (t) => {
  // All run in one process: most of the CPU of a scenario goes into loading the suite.
  const { failed, all, text } = await runSuite('server', '--url', url, '--suite', 'all')
  t.diagnostic(text)
  assert.ok(all.length > 20)
  assert.deepEqual(failed, Object.keys(BASELINE).sort())
  for (const [name, reason] of Object.entries(BASELINE)) assert.ok(reason.length > 15, name)
})
