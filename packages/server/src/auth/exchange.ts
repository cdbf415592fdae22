// An API key goes in, a one-hour token comes out. Unknown, revoked, expired and inactive are one and the same refusal.
import type { Agent } from '@sensorium/contract'
import { findAgent, shownAgent } from '../agents/sql.ts'
import { iso } from '../kernel/clock.ts'
import type { Store } from '../store/db.ts'
import type { KeyTools } from './keys.ts'
import type { Principal } from './principal.ts'
import { endpointSeenBy } from './seen-endpoint.ts'
import { findKeyByHash, touchKey, type KeyRow } from './sql.ts'
import { signToken } from './tokens.ts'

interface TokenResponse {
  access_token: string
  token_type: 'Bearer'
  expires_at: string
  /** In seconds, as in OAuth. */
  expires_in: number
  agent: Agent | null
}

/** A key that may be exchanged, and its principal. */
interface LiveKey {
  row: KeyRow
  principal: Principal
  /** Null for the key of an org-admin. */
  agent: Agent | null
}

/** `last_used_at` is accurate to a minute: a client that exchanges for every request causes no write each time. */
const TOUCH_EVERY_MS = 60_000

/** Returns null for a key that is unknown, revoked or expired, and for the key of an inactive agent. */
export async function findLiveKey(store: Store, tools: KeyTools, apiKey: string): Promise<LiveKey | null> {
  const row = await findKeyByHash(store, tools.secrets.hashApiKey(apiKey), tools.now())
  if (!row) return null
  const agent = row.owner_type === 'agent' ? await findAgent(store, row.tenant_id, row.owner_id) : null
  if (agent?.status !== 'active' && row.owner_type === 'agent') return null
  const principal: Principal = {
    kind: row.owner_type,
    id: row.owner_id,
    tenantId: row.tenant_id,
    keyId: row.id,
    scopes: new Set(JSON.parse(row.scopes) as string[]),
    teamId: agent?.team_id ?? null,
  }
  return { row, principal, agent: agent ? shownAgent(agent, endpointSeenBy(tools.secrets, principal)) : null }
}

export async function exchangeKey(
  store: Store,
  tools: KeyTools,
  { row, principal, agent }: LiveKey,
): Promise<TokenResponse> {
  const now = tools.now()
  if (row.last_used_at === null || now - row.last_used_at >= TOUCH_EVERY_MS)
    await store.tx((tx) => touchKey(tx, row.tenant_id, row.id, now), { caller: principal })
  const { token, expiresAt } = await signToken(tools.secrets.tokenKey, principal, now, row.expires_at)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_at: iso(expiresAt),
    expires_in: Math.floor((expiresAt - now) / 1000),
    agent,
  }
}
