import type { CommandResult } from '../command.ts'
import { cleanJson } from './clean.ts'
import { noneOf } from './none.ts'
import type { Styled } from './screen.ts'
import { list } from './table.ts'
import { when } from './when.ts'

interface Entry {
  at: string
  actor: string
  action: string
  resource: string | null
  request_id: string | null
  details: Readonly<Record<string, unknown>>
}

/** The key of the caller. It says who changed something, not what, and every entry has it. */
const CALLER = 'actor_key_id'

/** Describes the change in one line, without what the other columns show. */
function detailsOf({ resource, details }: Entry): Styled {
  const fields = Object.entries(details).filter(([, value]) => value !== resource)
  const inOrder = [...fields.filter(([name]) => name !== CALLER), ...fields.filter(([name]) => name === CALLER)]
  const text = inOrder.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : cleanJson(value)}`)
  return { text: text.join(', '), cuttable: true }
}

/** Shows what the query found in the audit log, for an org-admin and for the operator. */
export function showAudit(query: object, json: { entries: readonly Entry[]; total: number }): CommandResult {
  const rows = json.entries.map((entry) => [
    when(entry.at),
    entry.actor,
    entry.action,
    entry.resource ?? '',
    entry.request_id ?? '',
    detailsOf(entry),
  ])
  const none = noneOf(query, 'Nothing was changed yet.', 'No change fits.')
  return {
    json,
    text: list(['when', 'who', 'action', 'what', 'request', 'details'], rows, { none, total: json.total }),
  }
}
