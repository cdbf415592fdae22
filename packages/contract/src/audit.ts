// Who changed what in a tenant.
import { operation } from './operation.ts'
import { Type, dateTime, id, jsonObject, page, text } from './shapes.ts'

const AuditEntry = Type.Object(
  {
    id: id('aud'),
    at: dateTime(),
    actor: Type.String({
      examples: ['adm_01hv3k8z9q4m7t2x5c6w8r0s1d'],
      description: 'The agent or org-admin, or `operator`.',
    }),
    action: Type.String({ examples: ['updateAgent'], description: 'The operation, by its name in this document.' }),
    resource: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
      description: 'What was made or changed.',
    }),
    request_id: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['req_4f1c2a9be07700000001'] }),
    details: jsonObject({
      examples: [{ id: 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d', delivery_mode: 'push' }],
      description: 'Parameters and fields of the request, never a secret; `actor_key_id` is the API key that was used.',
    }),
  },
  { $id: 'AuditEntry' },
)

const query = Type.Object({
  actor: Type.Optional(text(255, { minLength: 1, examples: ['adm_01hv3k8z9q4m7t2x5c6w8r0s1d'] })),
  action: Type.Optional(text(255, { minLength: 1, examples: ['updateAgent'] })),
  since: Type.Optional(dateTime()),
  until: Type.Optional(dateTime()),
  ...page,
})

const AuditList = Type.Object(
  { entries: Type.Array(AuditEntry), total: Type.Integer({ examples: [1] }) },
  { $id: 'AuditList' },
)

export const auditOperations = {
  listAudit: operation({
    id: 'listAudit',
    summary: 'List who changed what, newest first',
    description:
      'Changes of agents, keys, interests, channels, members, feeds, dead letters, settings, webhooks and connectors, by the tenant and by the operator. Kept for `AUDIT_DAYS`.',
    tag: 'Monitoring',
    method: 'GET',
    path: '/audit',
    access: { scope: 'org_admin' },
    query,
    success: { 200: { description: 'A page of entries', schema: AuditList } },
  }),
  listTenantAudit: operation({
    id: 'listTenantAudit',
    summary: 'List who changed what in a tenant, newest first',
    description: 'The audit log of the tenant, as its org-admins see it.',
    tag: 'Operator',
    method: 'GET',
    path: '/operator/tenants/{slug}/audit',
    base: 'root',
    access: { scope: 'operator' },
    query,
    success: { 200: { description: 'A page of entries', schema: AuditList } },
  }),
} as const
