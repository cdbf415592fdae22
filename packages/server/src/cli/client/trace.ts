import type { Receipt } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { cleanJson } from '../terminal/clean.ts'
import { record } from '../terminal/record.ts'
import type { Styled } from '../terminal/screen.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { matchesOf } from './support/matches.ts'

const STYLES = { pending: 'yellow', leased: 'cyan', acknowledged: 'green', dead_lettered: 'red' } as const

const stateOf = ({ state }: Receipt): Styled => ({ text: state.replace('_', ' '), style: STYLES[state] })
const lastOf = (receipt: Receipt): string =>
  when(receipt.acknowledged_at ?? receipt.dead_lettered_at ?? receipt.first_attempt_at ?? receipt.created_at)

/** Why the receiver has it, or why it has it no longer or not yet. */
function becauseOf({ matched, dlq_reason, last_error, next_attempt_at }: Receipt): string {
  if (dlq_reason !== null) return dlq_reason
  if (last_error === null) return matchesOf(matched)
  return next_attempt_at === null ? last_error : `${last_error}; again ${when(next_attempt_at)}`
}

export const run: ClientRun = async ({ args, client, signal }) => {
  const json = await client.events.get(args[0]!, { signal })
  const { event, deliveries } = json
  const shown =
    event === null
      ? 'The event itself is gone; what became of it is kept longer.'
      : record([
          ['event', event.id],
          ['type', event.type],
          ['source', event.source],
          ['subject', event.subject],
          ['time', event.time],
          ['data', event.data === undefined ? null : cleanJson(event.data)],
        ])
  const rows = deliveries.map((receipt) => [
    receipt.agent_id,
    stateOf(receipt),
    receipt.attempts,
    lastOf(receipt),
    becauseOf(receipt),
  ])
  const head = ['agent', 'state', 'attempts', 'last', 'because of']
  return {
    json,
    text: `${shown}\n\n${list(head, rows, { none: 'It reached no mailbox. `sensorium explain` says why.' })}`,
  }
}
