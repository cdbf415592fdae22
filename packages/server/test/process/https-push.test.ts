// Pushes to an https endpoint with a certificate of an authority that only the environment names. The authorities that
// a process trusts are read when it starts, so this needs one of its own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient, verifyPush, type Delivery } from '@sensorium/client'
import { sqlite } from '../support/engines.ts'
import { startProcess } from '../support/process.ts'

const file = (name: string): string => fileURLToPath(new URL(`../support/tls/${name}.pem`, import.meta.url))

test('[PUSH-20] an https endpoint receives signed pushes on a kept connection, and they are acknowledged', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess({
    ...env,
    LOG_LEVEL: 'warn',
    PUSH_ALLOW_PRIVATE: 'on',
    NODE_EXTRA_CA_CERTS: file('ca'),
  })
  t.after(() => service.stop())
  const secret = Promise.withResolvers<string>()
  const received: Delivery[] = []
  const all = Promise.withResolvers<void>()
  let connections = 0
  const endpoint = https.createServer(
    { key: readFileSync(file('server-key')), cert: readFileSync(file('server')) },
    async (request, response) => {
      const headers = new Headers(request.headers as Record<string, string>)
      received.push(await verifyPush(headers, await text(request), await secret.promise))
      response.end('thanks')
      if (received.length === 2) all.resolve()
    },
  )
  endpoint.on('secureConnection', () => connections++)
  endpoint.listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  t.after(() => {
    endpoint.closeAllConnections()
    endpoint.close()
  })

  const [, adminKey] = await service.printed(/(ak_live_[A-Za-z0-9]{32})/)
  const admin = createClient({ url: service.url, apiKey: adminKey! })
  const { id } = await admin.agents.register({ name: 'Pushed', delivery_mode: 'push', client_type: 'other' })
  const { key } = await admin.keys.mint(id, { scopes: ['send', 'receive', 'interests:write'] })
  const agent = createClient({ url: service.url, apiKey: key })
  secret.resolve((await agent.agents.rotatePushSecret(id)).push_secret)
  const port = (endpoint.address() as AddressInfo).port
  await agent.agents.update(id, { delivery_endpoint: `https://localhost:${port}/inbox` })
  for (const n of [1, 2]) await agent.publish({ type: 'com.example.pushed', recipient: id, data: { n } })
  await all.promise
  assert.deepEqual(
    received.map(({ payload }) => payload.data),
    [{ n: 1 }, { n: 2 }],
  )
  assert.equal(connections, 1)
})
