// Who is signed in. The key is given to the client and goes nowhere else: it stays in the memory of this page, and the
// client exchanges it for a token, and for the next one before the first expires. Nothing is written to storage, a
// cookie or an address, so a reload or a closed tab forgets the key.
import { createClient, SensoriumError, type Agent, type Client, type KeyMint } from '@sensorium/client'
import { createContext, use } from 'react'
import { parseResponse } from '../api/exact-numbers.ts'

export type Scope = KeyMint['scopes'][number]

export interface Session {
  kind: 'org_admin' | 'agent' | 'operator'
  client: Client
  /** The agent that the key belongs to; null for an org-admin and for the operator. */
  agent: Agent | null
  /** Whether the key has this scope. An org-admin may do everything in the tenant, an operator nothing in it. */
  can(scope: Scope): boolean
  /** Whether the key belongs to this agent. */
  isSelf(agentId: string): boolean
  /** Whether this is the beginning of the key. Keys are listed by their first 12 characters. */
  isOwnKey(prefix: string): boolean
}

/** A user is waiting, so the page shows an error after three attempts, or if the service asks to wait for long. */
const PATIENCE = { attempts: 3, maxRetryAfter: 2 }

/** Every client of the console is made here. */
export const makeClient = (credential: { apiKey: string } | { token: string }, url = location.origin): Client =>
  createClient({ url, ...credential, ...PATIENCE, parse: parseResponse })

/** Signs in with a key; rejects with the error of the service. */
export async function signInWithKey(apiKey: string, url = location.origin): Promise<Session> {
  const client = makeClient({ apiKey }, url)
  const agent = (await client.agent()) ?? null
  const scopes = new Set(await client.scopes())
  return {
    kind: agent === null ? 'org_admin' : 'agent',
    client,
    agent,
    can: (scope) => agent === null || scopes.has(scope),
    isSelf: (id) => agent?.id === id,
    isOwnKey: (prefix) => apiKey.startsWith(prefix),
  }
}

/** Signs in as the operator, who has a token of the installation and no tenant. */
export async function signInAsOperator(token: string, url = location.origin): Promise<Session> {
  const client = makeClient({ token }, url)
  await client.call('listTenants', { query: { limit: 1 } })
  return { kind: 'operator', client, agent: null, can: () => false, isSelf: () => false, isOwnKey: () => false }
}

/** Whether the session is over: the key was revoked or has expired, or its agent was deactivated. */
export const isSignedOut = (error: unknown): boolean => error instanceof SensoriumError && error.status === 401

interface SessionState {
  session: Session
  /** Whether the user has left. Requests that end afterwards show the next user nothing. */
  isOver(): boolean
  signOut(): void
  /** To be called with the failure of a request that is made without the query cache. */
  failed(error: unknown): void
}

export const SessionContext = createContext<SessionState | null>(null)

export function useSession(): Session {
  return use(SessionContext)!.session
}

export function useIsOver(): () => boolean {
  return use(SessionContext)!.isOver
}

export function useSignOut(): () => void {
  return use(SessionContext)!.signOut
}

export function useFailureHandler(): (error: unknown) => void {
  return use(SessionContext)!.failed
}
