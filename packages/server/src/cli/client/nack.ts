import type { ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ args, options, flags, client, signal }) => {
  const how = withoutUndefined({
    reason: options['reason'],
    retry_after_seconds: numberOf('--retry-after', options['retry-after']),
    dead_letter: flags.has('dead-letter') || undefined,
  })
  const nacked = await client.deliveries.nack(args, how, { signal })
  const all = nacked === args.length
  return {
    json: { nacked },
    text: `${nacked} of ${args.length} ${how.dead_letter ? 'made dead letters' : 'given back'}.${all ? '' : ' The rest is not leased to you.'}`,
    exitCode: all ? EXIT.ok : EXIT.failed,
  }
}
