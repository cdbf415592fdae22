// A mount: a part of the service under its own path.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { readBody } from '../../src/http/body.ts'
import type { Mount } from '../../src/http/mount.ts'
import { sendText } from '../../src/http/respond.ts'
import { ruleBroken } from '../../src/kernel/failure.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { openStore } from '../../src/store/open.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'

onBothEngines((engine) => {
  test('[OPS-15] a mount is given every method and path below its prefix, and nothing beside it', async (t) => {
    const echo: Mount = {
      prefix: '/echo',
      async handle(exchange) {
        if (exchange.path === '/echo/refused') throw ruleBroken('no_echo', 'Nothing comes back')
        const body = exchange.hasBody ? (await readBody(exchange, 1_000)).toString() : ''
        sendText(exchange, 200, { 'x-mount': 'echo' }, `${exchange.method} ${exchange.path} ${body}`, 'text/plain')
      },
    }
    const { env, drop } = await engine.fresh()
    const config = readConfig({ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent', ...env })
    const clock = fakeClock()
    const app = makeApp({
      config,
      ...(await openStore(config, clock)),
      clock,
      log: makeLogger('silent'),
      mounts: [echo],
    })
    const url = await app.listen()
    t.after(async () => {
      await app.close()
      await drop()
    })
    const ask = async (method: string, path: string, body?: string) => {
      const response = await fetch(url + path, { method, ...(body === undefined ? {} : { body }) })
      return { status: response.status, mount: response.headers.get('x-mount'), text: await response.text() }
    }

    for (const method of ['GET', 'DELETE', 'OPTIONS'])
      assert.deepEqual(await ask(method, '/echo'), { status: 200, mount: 'echo', text: `${method} /echo ` })
    assert.equal((await ask('POST', '/echo/a/b?c=d', 'x')).text, 'POST /echo/a/b x')
    const refused = await ask('GET', '/echo/refused')
    assert.equal(refused.status, 422)
    assert.equal(JSON.parse(refused.text).error.details.rule, 'no_echo')
    for (const path of ['/echoes', '/ech', '/v1/echo'])
      assert.deepEqual([(await ask('GET', path)).status, (await ask('GET', path)).mount], [404, null])
    assert.equal((await ask('GET', '/healthz')).status, 200)
    assert.equal((await ask('DELETE', '/v1/agents')).status, 405)
  })
})
