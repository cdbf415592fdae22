// A publish in one of many tenants, which all publish in turns.
import type { Service } from '../support/servers.ts'
import { inTurns, interest, publish, withFewInterests, SCOPES, type Engine, type Row } from './prepare.ts'

const TENANTS = Number(process.env['BENCH_TENANTS'] ?? 1_000)
const OPERATOR_TOKEN = 'operator-token-of-the-bench'

/** Creates a tenant with an agent that receives what it sends. Returns its token. */
async function tenant(service: Service, slug: string): Promise<string> {
  const tokenOf = async (api_key: string): Promise<string> =>
    (await service.call<{ access_token: string }>('POST', '/v1/auth/token', null, { api_key })).access_token
  const made = await service.call<{ admin_key: string }>('POST', '/operator/tenants', OPERATOR_TOKEN, { slug })
  const admin = await tokenOf(made.admin_key)
  const shape = { name: 'bench', delivery_mode: 'poll', client_type: 'other' }
  const { id } = await service.call<{ id: string }>('POST', '/v1/agents', admin, shape)
  const { key } = await service.call<{ key: string }>('POST', `/v1/agents/${id}/keys`, admin, { scopes: SCOPES })
  const token = await tokenOf(key)
  const { path, body } = interest(id, token, 'com.bench.*')
  await service.call('POST', path, token, JSON.parse(body!))
  return token
}

export async function tenants(engine: Engine): Promise<Row[]> {
  const small = await withFewInterests(engine)
  const large = await withFewInterests(engine, { OPERATOR_TOKEN })
  const tokens: string[] = []
  for (let i = 0; i < TENANTS; i++) tokens.push(await tenant(large.service, `tenant-${i}`))
  let turn = 0
  const rates = await inTurns(small.service, large.service, {
    small: () => publish(small.sender, 'com.bench.order'),
    large: () => publish(tokens[turn++ % tokens.length]!, 'com.bench.order'),
  })
  const rss_mb = large.service.rssMb()
  await small.service.stop()
  await large.service.stop()
  return [{ engine, what: `publish in ${TENANTS} tenants in turns`, ...rates, goal: 'at least 0.75', rss_mb }]
}
