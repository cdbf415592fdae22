// Signed bodies of 250 bytes to POST /ingest/w/… from 64 senders, one delivery each: verified, mapped, on disk, then
// the response. And the cost of a refusal: a wrong signature on the same body.
import { createHmac } from 'node:crypto'
import { hammer, type Call } from './support/load.ts'
import { report } from './support/report.ts'
import { startService } from './support/servers.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const ENGINES = (process.env['BENCH_ENGINES'] ?? 'sqlite,postgres').split(',') as ('sqlite' | 'postgres')[]
const OPERATOR_TOKEN = 'operator-token-of-the-bench'
const PADDING = 'x'.repeat(150)

let n = 0
const request = (secret: string) => (): Call => {
  const body = `{"entity":"order","action":"created","id":"o-${process.pid}-${n++}","text":"${PADDING}"}`
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  return { method: 'POST', path: '/ingest/w/default', headers: { 'x-service-signature': signature }, body }
}

const rows: Record<string, unknown>[] = []
for (const engine of ENGINES) {
  const service = await startService(engine, { OPERATOR_TOKEN, LOG_LEVEL: 'warn' })
  const agent = await service.agent(['receive', 'interests:write'])
  await service.call('POST', `/v1/agents/${agent.id}/interests`, agent.token, {
    event_type: 'com.shop.*',
    priority: 0,
    enrichment_depth: 'none',
  })
  const { signing_secret } = await service.call<{ signing_secret: string }>(
    'POST',
    '/operator/webhooks',
    OPERATOR_TOKEN,
    { tenant: 'default', source: 'shop' },
  )
  await hammer(service.port, 64, 1, request(signing_secret), [202])
  const taken = await hammer(service.port, 64, SECONDS, request(signing_secret), [202])
  const refused = await hammer(service.port, 64, SECONDS, request('whsec_wrong'), [401])
  rows.push({
    engine,
    per_s: Math.round(taken.perSecond),
    p50_ms: taken.p50,
    p99_ms: taken.p99,
    refused_per_s: Math.round(refused.perSecond),
    rss_mb: service.rssMb(),
  })
  await service.stop()
}
report('webhooks', rows)
process.exit(0)
