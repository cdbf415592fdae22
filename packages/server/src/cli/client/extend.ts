import type { ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { numberOf } from './support/read-input.ts'

const SECONDS = 60

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const seconds = numberOf('--seconds', options['seconds']) ?? SECONDS
  const extended = await client.deliveries.extend(args, seconds, { signal })
  const all = extended === args.length
  return {
    json: { extended },
    text: `${extended} of ${args.length} extended.${all ? '' : ' The rest is not leased to you.'}`,
    exitCode: all ? EXIT.ok : EXIT.failed,
  }
}
