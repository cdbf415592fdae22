// API keys: minted, listed, revoked. The plaintext exists only in the response to the mint; the store has a keyed hash.
import { isId, type ApiKey, type MintedKey, type Scope } from '@sensorium/contract'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { expiryOf } from '../kernel/expiry.ts'
import { insufficientScope, notFound } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import { pagesOf } from '../kernel/row-pages.ts'
import { randomBase62, type Secrets } from '../kernel/secrets.ts'
import type { Announce } from '../store/announce.ts'
import type { Db } from '../store/db.ts'
import { requireAgent } from '../agents/get.ts'
import { holds, type Principal } from './principal.ts'
import { insertKey, pageKeyRows, revokeKeyRow, type KeyRow } from './sql.ts'

export interface KeyTools {
  makeId: MakeId
  secrets: Secrets
  now(): number
}

const PREFIX_LENGTH = 12

/** Makes and stores a key for an agent or an org-admin. `plaintext` is given only if the operator chose the key. */
export async function createKey(
  db: Db,
  tools: KeyTools,
  owner: {
    tenantId: string
    type: KeyRow['owner_type']
    id: string
    scopes: readonly string[]
    expiresAt: number | null
  },
  plaintext = `ak_live_${randomBase62(32)}`,
): Promise<MintedKey> {
  const row: KeyRow = {
    tenant_id: owner.tenantId,
    id: tools.makeId('api_key'),
    owner_type: owner.type,
    owner_id: owner.id,
    prefix: plaintext.slice(0, PREFIX_LENGTH),
    scopes: JSON.stringify(owner.scopes),
    expires_at: owner.expiresAt,
    created_at: tools.now(),
    last_used_at: null,
  }
  await insertKey(db, row, tools.secrets.hashApiKey(plaintext))
  const { last_used_at: _, ...shown } = shownKey(row)
  return { ...shown, key: plaintext }
}

export async function mintKey(
  db: Db,
  tools: KeyTools,
  caller: Principal,
  agentId: string,
  wanted: { scopes: readonly Scope[]; expires_at?: string | null },
): Promise<MintedKey> {
  const scopes = [...new Set(wanted.scopes)]
  // No caller grants a scope that it does not hold. Scopes are checked before anything else about the request.
  const missing = scopes.find((scope) => !holds(caller, scope))
  if (missing) throw insufficientScope(missing)
  const expiresAt = expiryOf(wanted.expires_at, tools.now())
  await requireAgent(db, caller.tenantId, agentId)
  return createKey(db, tools, { tenantId: caller.tenantId, type: 'agent', id: agentId, scopes, expiresAt })
}

/** Yields the keys of an agent that are not revoked in pages, newest first. */
export async function* keyPages(db: Db, caller: Principal, agentId: string): AsyncGenerator<KeyRow[]> {
  await requireAgent(db, caller.tenantId, agentId)
  yield* pagesOf<KeyRow>((last, most) => pageKeyRows(db, caller.tenantId, agentId, last?.id ?? null, most))
}

export async function revokeKey(
  db: Db,
  announce: Announce,
  caller: Principal,
  agentId: string,
  keyId: string,
  now: number,
): Promise<void> {
  await requireAgent(db, caller.tenantId, agentId)
  const revoked = isId('api_key', keyId) ? await revokeKeyRow(db, caller.tenantId, agentId, keyId, now) : 0
  if (revoked === 0) throw notFound('api_key', keyId)
  announce(db, 'keys', caller.tenantId)
}

export const shownKey = (row: KeyRow): ApiKey => ({
  id: row.id,
  prefix: row.prefix,
  scopes: JSON.parse(row.scopes) as Scope[],
  expires_at: isoOrNull(row.expires_at),
  created_at: iso(row.created_at),
  last_used_at: isoOrNull(row.last_used_at),
})
