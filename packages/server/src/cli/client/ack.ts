import type { ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const acknowledged = await client.deliveries.ack(args, { signal })
  const all = acknowledged === args.length
  return {
    json: { acknowledged },
    text: `${acknowledged} of ${args.length} acknowledged.${all ? '' : ' The rest is unknown, not yours or settled already.'}`,
    exitCode: all ? EXIT.ok : EXIT.failed,
  }
}
