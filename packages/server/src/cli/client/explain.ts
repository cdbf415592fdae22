import type { ClientRun } from '../command.ts'
import { cleanLine } from '../terminal/clean.ts'
import { paint } from '../terminal/screen.ts'
import { list } from '../terminal/table.ts'
import { givenEvent } from './support/given-event.ts'
import { matchesOf } from './support/matches.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const json = await client.events.explain(await givenEvent(args[0]!, options), options['agent'], { signal })
  const rows = json.recipients.map(({ agent_id, via, priority }) => [agent_id, matchesOf(via), priority])
  const recipients = list(['agent', 'because of', 'priority'], rows, { none: 'Nobody would receive it.' })
  if (json.agent === undefined) {
    if (rows.length > 0) return { json, text: recipients }
    const own = await client.agent({ signal })
    const next = `\`--agent ${own?.id ?? '<id>'}\` explains why ${own ? 'you' : 'an agent'} would or would not receive it.`
    return { json, text: `${recipients}\n${next}` }
  }
  const { agent_id, receives, reasons } = json.agent
  const head = receives
    ? paint('green', `${agent_id} would receive it:`)
    : paint('yellow', `${agent_id} would not receive it:`)
  const lines = reasons.map(
    ({ kind, id, matches, explanation }) => `  ${matches ? 'yes' : 'no '}  ${kind} ${id}: ${cleanLine(explanation)}`,
  )
  return {
    json,
    text: [recipients, '', head, ...(lines.length > 0 ? lines : ['  it has no interest and no feed'])].join('\n'),
  }
}
