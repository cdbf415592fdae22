// Streams: the time from publish to receipt at 500 events a second, and the memory of 5,000 open streams.
import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import { inParallel, steadily } from './support/far-ends.ts'
import { Connection, quantile } from './support/load.ts'
import { openStream } from './support/open-stream.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10)
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 500)
const STREAMS = Number(process.env['BENCH_STREAMS'] ?? 5_000)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const SCOPES = ['send', 'receive', 'interests:write']

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<string, unknown>> {
  const service = await startService(engine, { LOG_LEVEL: 'warn' })
  const { token } = await service.agent(SCOPES)
  const reader = await service.agent(SCOPES)
  const interest = { event_type: '*', filter_expression: null, priority: 0, enrichment_depth: 'none' }
  await service.call('POST', `/v1/agents/${reader.id}/interests`, reader.token, interest)

  const sentAt = new Map<string, number>()
  const times: number[] = []
  const acks = new Connection(service.port)
  const toAck: string[] = []
  let acking = false
  async function acknowledge(): Promise<void> {
    if (acking) return
    acking = true
    while (toAck.length > 0) {
      const ids = toAck.splice(0, 100)
      await acks.send({
        method: 'POST',
        path: '/v1/delivery/ack',
        token: reader.token,
        body: JSON.stringify({ delivery_ids: ids }),
      })
    }
    acking = false
  }
  const stream = await openStream(service.port, reader.token, (received) => {
    const now = performance.now()
    for (const { deliveryId, eventId } of received) {
      toAck.push(deliveryId)
      const sent = sentAt.get(eventId)
      if (sent !== undefined) times.push(now - sent)
    }
    void acknowledge()
  })

  const connections = Array.from({ length: 32 }, () => new Connection(service.port))
  let n = 0
  const publish = async (): Promise<void> => {
    const eventId = `s-${process.pid}-${n++}`
    const body = `{"specversion":"1.0","type":"t.x","source":"/bench","id":"${eventId}","data":{"text":"${'x'.repeat(200)}"}}`
    const connection = connections.pop() ?? new Connection(service.port)
    sentAt.set(eventId, performance.now())
    await connection.send({ method: 'POST', path: '/v1/events', token, body })
    connections.push(connection)
  }
  const underWay: Promise<void>[] = []
  const run = async (seconds: number): Promise<{ p50: number; p99: number; received: number }> => {
    times.length = 0
    await steadily(PER_SECOND, seconds, () => void underWay.push(publish()))
    await Promise.all(underWay)
    const limit = performance.now() + 10_000
    while (times.length < PER_SECOND * seconds && performance.now() < limit)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const sorted = [...times].sort((a, b) => a - b)
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), received: sorted.length }
  }
  await run(2)
  const alone = await run(SECONDS)

  // Many open streams: fifty agents with a hundred streams each.
  const before = service.rssMb()
  const crowd = await Promise.all(Array.from({ length: Math.ceil(STREAMS / 100) }, () => service.agent(SCOPES)))
  const opened: Socket[] = []
  await inParallel(
    STREAMS,
    50,
    async (i) => void opened.push(await openStream(service.port, crowd[Math.floor(i / 100)]!.token, () => {})),
  )
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const rss = service.rssMb()
  const crowded = await run(SECONDS)
  const row = {
    engine,
    perSecond: PER_SECOND,
    p50: alone.p50,
    p99: alone.p99,
    received: alone.received,
    streams: opened.length,
    rssBeforeMb: before,
    rssMb: rss,
    kbPerStream: ((rss - before) * 1024) / opened.length,
    p50Crowded: crowded.p50,
    p99Crowded: crowded.p99,
    rssAfterMb: service.rssMb(),
  }
  for (const socket of [stream, ...opened]) socket.destroy()
  for (const connection of [acks, ...connections]) connection.close()
  await service.stop()
  return row
}

const rows = []
for (const engine of ENGINES) rows.push(await measure(engine))
report('stream', rows)
