// Tools that only an agent has a use for.
import { isId } from '@sensorium/contract'
import { notFound } from '../kernel/failure.ts'

/** Returns the caller's id. Refuses an org-admin with a reason: as an agent, its id would only be called unknown. */
export function agentOnly(id: string, why: string): string {
  if (isId('agent', id)) return id
  throw notFound('agent', id, why)
}
