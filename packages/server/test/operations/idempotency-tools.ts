// A call under a key, the record of its response, and what makes a response a replay.
import assert from 'node:assert/strict'
import { AGENT, type Reply, type Service, type TestTenant } from '../support/service.ts'

export interface Kept {
  idempotency_key: string
  status: number
  body: string
  sealed: number
}

export const createUnder = (service: Service, { admin }: TestTenant, key: string, body: unknown = AGENT) =>
  service.call('POST /v1/agents', { token: admin, body, headers: { 'idempotency-key': key } })

export const keptUnder = ({ store }: Service, key: string): Promise<Kept[]> =>
  store.rows<Kept>('select idempotency_key, status, body, sealed from idempotency where idempotency_key = ?', [key])

export function assertReplay(first: Reply<unknown>, replay: Reply<unknown>): void {
  assert.equal(replay.headers.get('idempotent-replayed'), 'true')
  assert.equal(first.headers.get('idempotent-replayed'), null)
  assert.equal(replay.status, first.status)
  assert.deepEqual(replay.body, first.body)
  // Everything except what belongs to the individual request.
  const own = ['x-request-id', 'idempotent-replayed', 'date', 'content-length', 'connection', 'keep-alive']
  const shared = ({ headers }: Reply<unknown>) =>
    [...headers].filter(([name]) => !own.includes(name) && !name.startsWith('x-ratelimit'))
  assert.deepEqual(shared(replay), shared(first))
}
