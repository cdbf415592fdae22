// The official conformance suite against the service. It calls tools of its own that only a sample server has; those
// scenarios, and those of parts that the service does not offer, stand in the baseline with the reason.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { sqlite } from '../support/engines.ts'
import { startService, type Service } from '../support/service.ts'

const ROOT = path.resolve(import.meta.dirname, '../../../..')
const SUITE = path.join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const BASELINE = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'conformance-baseline.json'), 'utf8'),
) as Record<string, string>

const suite = (...args: string[]) => promisify(execFile)(process.execPath, [SUITE, ...args], { maxBuffer: 1 << 24 })

let service: Service
let url: string
let close: () => void

before(async () => {
  service = await startService(sqlite)
  const agent = await (await service.tenant()).agent()
  // The suite sends no credentials: this adds them, and changes nothing else.
  const front = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${agent.token}` }
    const onward = request(service.url + incoming.url, { method: incoming.method!, headers }, (response) => {
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

const list = execFileSync(process.execPath, [SUITE, 'list', '--server'], { encoding: 'utf8' })
const scenarios = [...list.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name!)

test('[MCP-9] the baseline names scenarios that there are, each with a reason', () => {
  assert.ok(scenarios.length > 20)
  for (const [name, reason] of Object.entries(BASELINE)) {
    assert.ok(scenarios.includes(name), name)
    assert.ok(reason.length > 15, name)
  }
})

for (const name of scenarios.filter((scenario) => !(scenario in BASELINE))) {
  test(`[MCP-9] ${name}`, async () => {
    await suite('server', '--url', url, '--scenario', name)
  })
}
