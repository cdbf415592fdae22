import assert from 'node:assert/strict'
import type { TenantSettings } from '@sensorium/contract'
import { OPERATOR_TOKEN, type Reply, type Service, type TestTenant } from '../support/service.ts'

export const tenantSettings = (
  service: Service,
  slug: string,
  method: 'GET' | 'PATCH',
  body?: unknown,
): Promise<Reply<TenantSettings>> =>
  service.call(`${method} /operator/tenants/${slug}/settings`, {
    token: OPERATOR_TOKEN,
    ...(body === undefined ? {} : { body }),
  })

export async function setSettings(service: Service, { slug }: TestTenant, body: unknown): Promise<void> {
  const reply = await tenantSettings(service, slug, 'PATCH', body)
  assert.equal(reply.status, 200, reply.text)
}
