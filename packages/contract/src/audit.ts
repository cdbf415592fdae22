// Who changed what in a tenant.
import { operation } from './operation.ts'
import { Type, dateTime, id, jsonObject, page, text } from './shapes.ts'

const AuditEntry = Type.Object(
  {
    id: id('aud'),
    at: dateTime(),
    actor: Type.String({
      examples: ['adm_01hv3k8z9q4m7t2x5c6w8r0s1d'],
      description: 'The id of the agent or org-admin that made the change, or `operator`.',
    }),
    action: Type.String({ examples: ['updateAgent'], description: 'The id of the operation in the OpenAPI document.' }),
    resource: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
      description: 'The id of the resource that was created or changed.',
    }),
    request_id: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['req_4f1c2a9be07700000001'] }),
    details: jsonObject({
      examples: [{ id: 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d', delivery_mode: 'push' }],
      description:
        'Parameters and fields of the request, never a secret. `actor_key_id` is the id of the API key that was used. Long texts and lists are cut; `left_out` names what did not fit.',
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
    summary: 'List the audit log, newest first',
    description:
      'Shows who changed what: changes to agents, keys, interests, channels, members, feeds, dead letters, settings, webhooks and connectors, made by the tenant or by the operator. Entries are kept for `AUDIT_DAYS`.',
    tag: 'Monitoring',
    method: 'GET',
    path: '/audit',
    access: { scope: 'org_admin' },
    query,
    success: { 200: { description: 'A page of entries', schema: AuditList } },
  }),
  listTenantAudit: operation({
    id: 'listTenantAudit',
    summary: 'List the audit log of a tenant, newest first',
    description: 'The same audit log that the org-admins of the tenant see.',
    tag: 'Operator',
    method: 'GET',
    path: '/operator/tenants/{slug}/audit',
    base: 'root',
    access: { scope: 'operator' },
    query,
    success: { 200: { description: 'A page of entries', schema: AuditList } },
  }),
} as const
