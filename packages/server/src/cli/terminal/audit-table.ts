import type { CommandResult } from '../command.ts'
import { noneOf } from './none.ts'
import { list } from './table.ts'
import { when } from './when.ts'

interface Entry {
  at: string
  actor: string
  action: string
  resource: string | null
  request_id: string | null
}

/** Shows what the query found in the audit log, for an org-admin and for the operator. */
export function showAudit(query: object, json: { entries: readonly Entry[]; total: number }): CommandResult {
  const rows = json.entries.map(({ at, actor, action, resource, request_id }) => [
    when(at),
    actor,
    action,
    resource ?? '',
    request_id ?? '',
  ])
  const none = noneOf(query, 'Nothing was changed yet.', 'No change fits.')
  return { json, text: list(['when', 'who', 'action', 'what', 'request'], rows, { none, total: json.total }) }
}
