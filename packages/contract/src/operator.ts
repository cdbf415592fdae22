// The operations of the installation's operator: tenants, org-admin keys, usage. Closed unless an operator token is
// configured.
import { retrySchedule } from './agents.ts'
import { operation } from './operation.ts'
import { Type, type Static, dateTime, filledText, id, nullableDateTime } from './shapes.ts'

export const SLUG = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'

const slug = Type.String({
  pattern: SLUG,
  expected: 'a slug: 1 to 63 lower-case letters, digits and hyphens, no hyphen at either end',
  examples: ['acme'],
})

export const Tenant = Type.Object(
  { id: id('ten'), slug, name: Type.String({ examples: ['Acme'] }), created_at: dateTime() },
  { $id: 'Tenant' },
)
export type Tenant = Static<typeof Tenant>

const adminKey = Type.String({
  examples: ['ak_live_0123456789abcdefghijABCDEFGHIJ01'],
  description: 'An org-admin API key. It is shown only in this response.',
})

export const AdminKey = Type.Object(
  {
    id: id('key'),
    prefix: Type.String({ examples: ['ak_live_9fQ2'], description: 'The first 12 characters of the key.' }),
    created_at: dateTime(),
    last_used_at: nullableDateTime(),
  },
  { $id: 'AdminKey' },
)
export type AdminKey = Static<typeof AdminKey>

export const UsageDay = Type.Object(
  {
    date: Type.String({ examples: ['2030-01-31'] }),
    events: Type.Integer(),
    deliveries: Type.Integer(),
    acknowledgements: Type.Integer(),
    memories: Type.Integer(),
    searches: Type.Integer(),
  },
  { $id: 'UsageDay' },
)
export type UsageDay = Static<typeof UsageDay>

// ---- settings of a tenant

const setting = (minimum: number, maximum: number, description: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum,
    maximum,
    expected: `an integer from ${minimum} to ${maximum}, or null for the default`,
    examples: [minimum],
    description,
  })

const limitSetting = (description: string) =>
  Type.Unsafe<number | 'off' | null>({
    type: ['integer', 'string', 'null'],
    minimum: 1,
    maximum: 1_000_000_000,
    pattern: '^off$',
    expected: 'an integer from 1 to 1000000000, "off", or null for the default',
    examples: [6000],
    description,
  })

const quota = (description: string) => setting(0, 1_000_000_000_000_000, description)

const settings = {
  visibility_timeout_s: setting(1, 43_200, 'How long a lease lasts, in seconds.'),
  max_attempts: setting(1, 1000, 'The number of attempts before a delivery is dead-lettered.'),
  push_retry_s: retrySchedule({ description: 'The delays before push retries, in seconds. The last delay repeats.' }),
  retention_days: setting(1, 36_500, 'How many days acknowledged deliveries and their events are kept.'),
  rate_limit_agent: limitSetting('The maximum number of requests of one agent in a window.'),
  rate_limit_tenant: limitSetting('The maximum number of requests of the whole tenant in a window.'),
  quota_agents: quota('The maximum number of agents, including inactive ones.'),
  quota_interests: quota('The maximum number of interests of all agents and feeds of all channels together.'),
  quota_memories: quota('The maximum number of memories that are not deleted.'),
  quota_stored_bytes: quota(
    'The maximum number of bytes of retained events, of memories that are not erased, and of their relationships.',
  ),
  quota_events_per_day: quota('The maximum number of events accepted in a day (UTC).'),
}

/** The names of all settings of a tenant. */
export const TENANT_SETTINGS = Object.keys(settings) as (keyof typeof settings)[]

export const TenantSettings = Type.Object(settings, {
  $id: 'TenantSettings',
  description: 'Null means the default: the value of the environment variable, or no quota.',
})
export type TenantSettings = Static<typeof TenantSettings>

export const TenantSettingsUpdate = Type.Partial(TenantSettings, { $id: 'TenantSettingsUpdate' })

const tag = 'Operator'
const access = { scope: 'operator' } as const
const base = 'root' as const

export const operatorOperations = {
  createTenant: operation({
    id: 'createTenant',
    audit: ['slug', 'name'],
    summary: 'Create a tenant',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/tenants',
    body: Type.Object({ slug, name: Type.Optional(filledText(255, { examples: ['Acme'] })) }, { $id: 'TenantCreate' }),
    success: {
      201: {
        description: 'The tenant and its first org-admin key',
        schema: Type.Object({ tenant: Tenant, admin_key: adminKey }, { $id: 'TenantCreated' }),
      },
    },
  }),
  listTenants: operation({
    id: 'listTenants',
    summary: 'List the tenants, newest first',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/tenants',
    query: Type.Object({
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
    success: {
      200: {
        description: 'A page of tenants',
        schema: Type.Object(
          { tenants: Type.Array(Type.Unsafe<Tenant>(Type.Ref('Tenant'))), total: Type.Integer() },
          { $id: 'TenantList' },
        ),
      },
    },
  }),
  createAdminKey: operation({
    id: 'createAdminKey',
    audit: [],
    summary: 'Create another org-admin key',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/tenants/{slug}/admin-keys',
    success: {
      201: { description: 'The key', schema: Type.Object({ admin_key: adminKey }, { $id: 'AdminKeyCreated' }) },
    },
  }),
  listAdminKeys: operation({
    id: 'listAdminKeys',
    summary: 'List the org-admin keys of a tenant, newest first',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/tenants/{slug}/admin-keys',
    success: {
      200: { description: 'The keys', schema: Type.Object({ keys: Type.Array(AdminKey) }, { $id: 'AdminKeyList' }) },
    },
  }),
  revokeAdminKey: operation({
    id: 'revokeAdminKey',
    audit: [],
    summary: 'Revoke an org-admin key',
    description:
      'The tokens of the key stop working. The last key of a tenant cannot be revoked (422 `last_admin_key`): create another one first.',
    tag,
    access,
    base,
    method: 'DELETE',
    path: '/operator/tenants/{slug}/admin-keys/{key_id}',
    success: { 204: { description: 'Revoked' } },
  }),
  getTenantSettings: operation({
    id: 'getTenantSettings',
    summary: 'Get the settings of a tenant',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/tenants/{slug}/settings',
    success: { 200: { description: 'The settings', schema: TenantSettings } },
  }),
  updateTenantSettings: operation({
    id: 'updateTenantSettings',
    audit: TENANT_SETTINGS,
    summary: 'Update the settings of a tenant',
    description:
      'Settings that are left out do not change; null resets a setting to its default. Takes effect on every node within a second.',
    tag,
    access,
    base,
    method: 'PATCH',
    path: '/operator/tenants/{slug}/settings',
    body: TenantSettingsUpdate,
    success: { 200: { description: 'The updated settings', schema: TenantSettings } },
  }),
  getUsage: operation({
    id: 'getUsage',
    summary: 'Get the usage of a tenant by day',
    description:
      'Accepted events, deliveries put into mailboxes, acknowledged deliveries, created memories and searches of each day (UTC). The counts are exact.',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/usage',
    query: Type.Object({ tenant: slug }),
    success: {
      200: {
        description: 'Usage by day, newest first',
        schema: Type.Object(
          { tenant: Type.String({ examples: ['acme'] }), days: Type.Array(UsageDay) },
          { $id: 'Usage' },
        ),
      },
    },
  }),
} as const
