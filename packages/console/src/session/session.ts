// Who is signed in. The key goes into the client and nowhere else: it is a variable of this page's memory, from which the
// client gets a token, and the next one before the first has ended. Nothing is written to storage, a cookie or an
// address, so a reload or a closed tab forgets it.
import { createClient, SensoriumError, type Agent, type Client, type KeyMint } from '@sensorium/client'
import { createContext, use } from 'react'

export type Scope = KeyMint['scopes'][number]

export interface Session {
  kind: 'org_admin' | 'agent' | 'operator'
  client: Client
  /** The agent whose key it is. */
  agent: Agent | null
  /** What the key allows; an org-admin may do everything in the tenant, an operator nothing in it. */
  can(scope: Scope): boolean
  /** Whether the key is an org-admin's, or the agent's own where that is enough. */
  isSelf(agentId: string): boolean
}

/** A page has somebody waiting: three tries, and then it says what is wrong. */
const ATTEMPTS = 3

/** Signs in with a key; rejects with what the service says. */
export async function signInWithKey(apiKey: string, url = location.origin): Promise<Session> {
  const client = createClient({ url, apiKey, attempts: ATTEMPTS })
  const agent = (await client.agent()) ?? null
  const scopes = new Set(await client.scopes())
  return {
    kind: agent === null ? 'org_admin' : 'agent',
    client,
    agent,
    can: (scope) => agent === null || scopes.has(scope),
    isSelf: (id) => agent?.id === id,
  }
}

/** Signs in as the operator, who has a token of the installation and no tenant. */
export async function signInAsOperator(token: string, url = location.origin): Promise<Session> {
  const client = createClient({ url, token, attempts: ATTEMPTS })
  await client.call('listTenants', { query: { limit: 1 } })
  return { kind: 'operator', client, agent: null, can: () => false, isSelf: () => false }
}

/** The key was revoked or has expired, or its agent was deactivated: nothing more can be had with it. */
export const isSignedOut = (error: unknown): boolean => error instanceof SensoriumError && error.status === 401

interface SessionState {
  session: Session
  signOut(): void
}

export const SessionContext = createContext<SessionState | null>(null)

export function useSession(): Session {
  return use(SessionContext)!.session
}

export function useSignOut(): () => void {
  return use(SessionContext)!.signOut
}
