// What the operator of the installation does: tenants, org-admin keys, usage. Closed unless an operator token is
// configured.
import { operation } from './operation.ts'
import { Type, type Static, dateTime, filledText, id, nullableDateTime } from './shapes.ts'

export const SLUG = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'

const slug = Type.String({
  pattern: SLUG,
  expected: 'a slug: 1 to 63 lower-case letters, digits and hyphens, no hyphen at either end',
  examples: ['acme'],
})

export const Tenant = Type.Object(
  { id: id('ten'), slug, name: Type.String(), created_at: dateTime() },
  { $id: 'Tenant' },
)
export type Tenant = Static<typeof Tenant>

const adminKey = Type.String({ description: 'An org-admin API key. Shown here once and never again.' })

export const AdminKey = Type.Object(
  {
    id: id('key'),
    prefix: Type.String({ examples: ['ak_live_9fQ2'], description: 'The leading characters of the key.' }),
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

const tag = 'Operator'
const access = { scope: 'operator' } as const
const base = 'root' as const

export const operatorOperations = {
  createTenant: operation({
    id: 'createTenant',
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
        schema: Type.Object({ tenant: Tenant, admin_key: adminKey }),
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
        schema: Type.Object({ tenants: Type.Array(Type.Unsafe<Tenant>(Type.Ref('Tenant'))), total: Type.Integer() }),
      },
    },
  }),
  createAdminKey: operation({
    id: 'createAdminKey',
    summary: 'Make another org-admin key',
    tag,
    access,
    base,
    method: 'POST',
    path: '/operator/tenants/{slug}/admin-keys',
    success: { 201: { description: 'The key', schema: Type.Object({ admin_key: adminKey }) } },
  }),
  listAdminKeys: operation({
    id: 'listAdminKeys',
    summary: 'List the org-admin keys of a tenant, newest first',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/tenants/{slug}/admin-keys',
    success: { 200: { description: 'The keys', schema: Type.Object({ keys: Type.Array(AdminKey) }) } },
  }),
  revokeAdminKey: operation({
    id: 'revokeAdminKey',
    summary: 'Revoke an org-admin key',
    description:
      'Ends its tokens. The last key of a tenant cannot be revoked (422 `last_admin_key`): make another first.',
    tag,
    access,
    base,
    method: 'DELETE',
    path: '/operator/tenants/{slug}/admin-keys/{key_id}',
    success: { 204: { description: 'Revoked' } },
  }),
  getUsage: operation({
    id: 'getUsage',
    summary: 'What a tenant used, per day',
    tag,
    access,
    base,
    method: 'GET',
    path: '/operator/usage',
    query: Type.Object({ tenant: slug }),
    success: {
      200: {
        description: 'Usage by day, newest first',
        schema: Type.Object({ tenant: Type.String(), days: Type.Array(UsageDay) }),
      },
    },
  }),
} as const
