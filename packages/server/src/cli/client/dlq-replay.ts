import { Misused, type ClientRun } from '../command.ts'
import { progress } from '../terminal/progress.ts'

export const run: ClientRun = async ({ args, flags, client, signal }) => {
  if (flags.has('all') === args.length > 0) throw new Misused('Name dead letters, or say --all', '<id> or --all')
  const ids = [...args]
  // All of them first: what is replayed leaves the list, and the pages after it would move.
  if (flags.has('all')) for await (const { id } of client.deliveries.eachDeadLetter({ signal })) ids.push(id)
  const shown = progress('dead letters')
  const replayed: { status: string; delivery_id: string }[] = []
  try {
    for (const id of ids) {
      replayed.push(await client.deliveries.replay(id, { signal }))
      if (ids.length > 1) shown.show(replayed.length, ids.length)
    }
  } finally {
    shown.end()
  }
  const one = replayed.length === 1
  return { json: { replayed }, text: `${replayed.length} dead letter${one ? ' is' : 's are'} back in the mailbox.` }
}
