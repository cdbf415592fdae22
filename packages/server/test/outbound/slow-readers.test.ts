// Stream readers that do not read: what is buffered for them is bounded, and other streams go on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { after, before, test } from 'node:test'
import type { Delivery } from '@sensorium/contract'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeParts, type Parts } from '../../src/parts.ts'
import type { OpenedStream } from '../../src/streams/reader.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { outboundCalls, until } from './tools.ts'

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let parts: Parts
  before(async () => {
    service = await startService(engine, { VISIBILITY_TIMEOUT_S: '600', MAX_EVENT_BYTES: '33554432' })
    tenant = await service.tenant()
    const { config, store, secrets, clock } = service
    parts = makeParts({ config, store, secrets, clock, log: makeLogger('silent'), metrics: makeMetrics() })
  })
  after(async () => {
    await parts.streams.close()
    await service.stop()
  })

  /** Opens a stream whose reader reads nothing until the test says so. */
  async function open(agent: TestAgent, written: string[]): Promise<OpenedStream> {
    const sink = {
      write: (text: string) => {
        written.push(text)
        return false
      },
      end: () => {},
      destroy: () => {},
    }
    const place = await parts.streams.admit({ tenantId: tenant.id, recipientId: agent.id }, 1)
    return place.open(sink, agent.token)
  }

  test('[LOAD-5] at most four long deliveries of an agent are unread by its readers, sixteen of a tenant', async () => {
    const calls = outboundCalls(service)
    const agents = await Promise.all(Array.from({ length: 5 }, () => tenant.agent()))
    for (const agent of agents) await calls.interest(agent)
    for (let i = 0; i < 6; i++) await calls.publish(agents[0]!, 'com.example.long', { text: 'x'.repeat(100_000) })

    const written: string[] = []
    const ofFirst = await Promise.all(Array.from({ length: 6 }, () => open(agents[0]!, written)))
    await until(async () => written.length === 4)
    const opened = await Promise.all(
      agents.slice(1).flatMap((agent) => Array.from({ length: 6 }, () => open(agent, written))),
    )
    await until(async () => written.length === 16)
    // By now any stream that may write more would have done so.
    for (let turns = 0; turns < 200; turns++) await new Promise(setImmediate)
    assert.equal(written.length, 16)

    // A delivery that is read makes room for another, and so does a reader that disconnects.
    for (const stream of ofFirst) stream.drained()
    await until(async () => written.length >= 18)
    for (const stream of ofFirst) stream.gone()
    await until(async () => written.length >= 20)
    // A reader that has read nothing for ten seconds no longer keeps others waiting.
    const before = written.length
    await service.clock.advance(10_000)
    await until(async () => written.length > before)
    for (const stream of opened) stream.gone()
  })

  test('[LOAD-11] long deliveries are written to a quick reader, and read for a push, one in a turn', async () => {
    const calls = outboundCalls(service)
    const agent = await tenant.agent()
    await calls.interest(agent)
    const publish = () => calls.publish(agent, 'com.example.long', { text: 'x'.repeat(100_000) })
    for (let i = 0; i < 3; i++) await publish()
    let turn = 0
    let ticking = setImmediate(function next() {
      turn++
      ticking = setImmediate(next)
    })
    const written: number[] = []
    const sink = {
      write: (text: string) => (text.length > 100_000 && written.push(turn), true),
      end() {},
      destroy() {},
    }
    const mailbox = { tenantId: tenant.id, recipientId: agent.id }
    const stream = (await parts.streams.admit(mailbox, 3)).open(sink, agent.token)
    await until(async () => written.length === 3)
    assert.equal(new Set(written).size, 3)
    stream.gone()

    for (let i = 0; i < 3; i++) await publish()
    const read: number[] = []
    const { lookUp, rows } = service.store
    const noted = <T>(sql: string, result: T): T => (sql.includes('d.enriched') && read.push(turn), result)
    service.store.lookUp = (sql, values) => noted(sql, lookUp(sql, values)) as never
    service.store.rows = (sql, values) => noted(sql, rows(sql, values)) as never
    const [served] = await parts.claim.many([{ mailbox, limit: 3 }], 1_000, async () => true)
    Object.assign(service.store, { lookUp, rows })
    clearImmediate(ticking)
    assert.equal(served!.deliveries.length, 3)
    assert.equal(new Set(read).size, 3)
  })

  /** Opens a stream over the port, on a connection that is read only as far as the test reads it. */
  async function openSocket(agent: TestAgent): Promise<net.Socket> {
    const { hostname, port } = new URL(service.url)
    const socket = net.connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.pause()
    socket.write(
      `GET /v1/delivery/stream?max_in_flight=100 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${agent.token}\r\n\r\n`,
    )
    return socket
  }

  test('[SSE-7] a reader that does not read gets no more than fits, and its stream ends when it stays stuck', async () => {
    const agent = await tenant.agent()
    const calls = outboundCalls(service)
    await calls.interest(agent)
    const socket = await openSocket(agent)
    socket.on('error', () => {})
    const large = 'x'.repeat(900_000)
    for (let i = 0; i < 20; i++) await calls.publish(agent, 't', large)
    const leased = async (): Promise<number> =>
      (await calls.rows(agent)).filter((row) => row.state === 'leased' && row.due_at! > service.clock.now()).length
    await until(async () => (await leased()) > 0)
    let before = -1
    await until(async () => {
      const now = await leased()
      const same = now === before
      before = now
      for (let i = 0; i < 50; i++) await new Promise(setImmediate)
      return same
    })
    assert.ok(before < 20, `${before} were delivered to somebody who reads nothing`)
    await service.clock.advance(31_000)
    await until(async () => /^sensorium_streams 0$/m.test((await service.call('GET /metrics')).text))
    await until(async () => (await leased()) === 0)
    socket.destroy()
  })

  test('[SSE-7] a reader that goes on reading gets a long delivery, however long it takes', async () => {
    const agent = await tenant.agent()
    const calls = outboundCalls(service)
    await calls.interest(agent)
    // Characters of several bytes, which must not be cut apart. The system's buffers hold up to 10 MB of it.
    const text = '1234€'.repeat(2_400_000)
    await calls.publish(agent, 't', text)
    const request = http.get(`${service.url}/v1/delivery/stream`, {
      headers: { authorization: `Bearer ${agent.token}` },
      agent: false,
    })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const chunks: Buffer[] = []
    const cutOff = once(response, 'close').then(() => assert.fail('the reader was disconnected'))
    cutOff.catch(() => {})
    const isWhole = (): boolean => Buffer.concat(chunks.slice(-2)).includes('}\n\n')
    const take = async (bytes: number): Promise<void> => {
      while (bytes > 0 && !isWhole()) {
        const chunk = response.read() as Buffer | null
        if (chunk) chunks.push(chunk)
        else await Promise.race([once(response, 'readable'), cutOff])
        bytes -= chunk?.length ?? 0
      }
    }
    for (let seconds = 0; seconds < 120; seconds += 10) {
      await take(1_500_000)
      await service.clock.advance(10_000)
    }
    const data = /^data: (.*)$/m.exec(Buffer.concat(chunks).toString())![1]!
    assert.equal((JSON.parse(data) as Delivery).payload.data, text)
    request.destroy()
  })
})
