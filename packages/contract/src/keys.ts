// The API keys of agents.
import { operation, SCOPES } from './operation.ts'
import { Type, type Static, dateTime, id, nullableDateTime, oneOf } from './shapes.ts'

const keyFields = {
  id: id('key'),
  prefix: Type.String({ examples: ['ak_live_9fQ2'], description: 'The first 12 characters of the key.' }),
  scopes: Type.Array(oneOf(SCOPES)),
  expires_at: nullableDateTime(),
  created_at: dateTime(),
}

export const ApiKey = Type.Object({ ...keyFields, last_used_at: nullableDateTime() }, { $id: 'ApiKey' })
export type ApiKey = Static<typeof ApiKey>

export const MintedKey = Type.Object(
  {
    ...keyFields,
    key: Type.String({
      pattern: '^ak_live_[A-Za-z0-9]{32}$',
      examples: ['ak_live_0123456789abcdefghijABCDEFGHIJ01'],
      description: 'The API key in plaintext. It is shown only in this response.',
    }),
  },
  { $id: 'MintedKey' },
)
export type MintedKey = Static<typeof MintedKey>

export const KeyMint = Type.Object(
  {
    scopes: Type.Array(oneOf(SCOPES), {
      minItems: 1,
      maxItems: 64,
      examples: [['send', 'receive']],
      expected: `a non-empty array of scopes, each one of: ${SCOPES.join(', ')}`,
    }),
    expires_at: Type.Optional(nullableDateTime()),
  },
  { $id: 'KeyMint' },
)

const tag = 'API keys'

export const keyOperations = {
  listKeys: operation({
    id: 'listKeys',
    summary: 'List the API keys of an agent',
    description: 'Newest first. Plaintext keys are not shown, and revoked keys are not listed.',
    tag,
    method: 'GET',
    path: '/agents/{id}/keys',
    access: { scope: 'admin' },
    success: {
      200: { description: 'The keys', schema: Type.Object({ keys: Type.Array(ApiKey) }, { $id: 'KeyList' }) },
    },
  }),
  mintKey: operation({
    id: 'mintKey',
    audit: ['scopes', 'expires_at'],
    summary: 'Mint an API key',
    description:
      'The plaintext key is shown only in this response. An agent can only mint scopes that it holds itself.',
    tag,
    method: 'POST',
    path: '/agents/{id}/keys',
    access: { scope: 'admin' },
    body: KeyMint,
    success: { 201: { description: 'The key, with its plaintext', schema: MintedKey } },
  }),
  revokeKey: operation({
    id: 'revokeKey',
    audit: [],
    summary: 'Revoke an API key',
    description: 'The tokens of the key stop working at once on this node, and within a second on every other node.',
    tag,
    method: 'DELETE',
    path: '/agents/{id}/keys/{key_id}',
    access: { scope: 'admin' },
    success: { 204: { description: 'Revoked' } },
  }),
} as const
