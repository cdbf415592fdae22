// An API key goes in, a one-hour token comes out. Unknown, revoked, expired and inactive are one and the same refusal.
import type { Agent } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import { iso } from '../kernel/clock.ts'
import { unauthenticated } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import type { KeyTools } from './keys.ts'
import type { Principal } from './principal.ts'
import { findKeyByHash, touchKey } from './sql.ts'
import { signToken } from './tokens.ts'

export interface TokenAnswer {
  access_token: string
  token_type: 'Bearer'
  expires_at: string
  agent: Agent | null
}

export async function exchangeKey(db: Db, tools: KeyTools, apiKey: string): Promise<TokenAnswer> {
  const now = tools.now()
  const key = await findKeyByHash(db, tools.secrets.hashApiKey(apiKey), now)
  if (!key || (key.owner_type === 'agent' && key.agent_status !== 'active')) throw unauthenticated()
  await touchKey(db, key.tenant_id, key.id, now)
  const principal: Principal = {
    kind: key.owner_type,
    id: key.owner_id,
    tenantId: key.tenant_id,
    keyId: key.id,
    scopes: new Set(JSON.parse(key.scopes) as string[]),
    teamId: key.team_id,
  }
  const { token, expiresAt } = await signToken(tools.secrets.tokenKey, principal, now, key.expires_at)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_at: iso(expiresAt),
    agent: principal.kind === 'agent' ? await requireAgent(db, key.tenant_id, key.owner_id) : null,
  }
}
