// A principal is the party that a token speaks for: an agent, or the org-admin of a tenant. The org-admin holds every
// scope.
import { SCOPES, type Scope } from '@sensorium/contract'

export interface Principal {
  kind: 'agent' | 'org_admin'
  id: string
  tenantId: string
  keyId: string
  scopes: ReadonlySet<string>
  teamId: string | null
}

export const ALL_SCOPES: readonly Scope[] = SCOPES

export const isOrgAdmin = (principal: Principal): boolean => principal.kind === 'org_admin'

export const holds = (principal: Principal, scope: string): boolean =>
  isOrgAdmin(principal) || principal.scopes.has(scope)
