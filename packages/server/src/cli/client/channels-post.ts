import type { ClientRun } from '../command.ts'
import { cleanLine } from '../terminal/clean.ts'
import { withoutUndefined } from './support/read-input.ts'

/** A copy of the contract's `POSTED_TYPE`: loading the contract takes longer than everything else. */
const POSTED_TYPE = 'com.sensorium.channel.posted'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const [id, text] = args as [string, string]
  const { type = POSTED_TYPE, 'reply-to': replyto } = options
  const json = await client.channels.post(id, { type, data: { text }, ...withoutUndefined({ replyto }) }, { signal })
  return {
    json,
    text: cleanLine(
      `${json.event_id} reached ${json.recipients === 1 ? '1 mailbox' : `${json.recipients ?? 0} mailboxes`}.`,
    ),
  }
}
