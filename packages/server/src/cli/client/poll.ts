import type { ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { paint } from '../terminal/screen.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'
import { showDelivery } from './support/show-delivery.ts'

export const run: ClientRun = async ({ options, flags, client, print, signal }) => {
  const query = withoutUndefined({
    limit: numberOf('--limit', options['limit']),
    wait: numberOf('--wait', options['wait']),
  })
  const json = await client.deliveries.poll(query, { signal })
  const { deliveries } = json
  const shown = deliveries.map((delivery) => showDelivery(delivery, false))
  if (deliveries.length === 0) return { json, text: 'Nothing is due.' }
  if (flags.has('ack')) {
    // Print before acknowledging, so that a delivery that could not be printed comes again.
    await print({ json, text: `${shown.join('\n\n')}\n` })
    const acknowledged = await client.deliveries.ack(deliveries.map(({ id }) => id))
    const exitCode = acknowledged === deliveries.length ? EXIT.ok : EXIT.failed
    return { json: undefined, text: `${acknowledged} acknowledged.`, exitCode }
  }
  const ids = deliveries.map(({ id }) => id).join(' ')
  const hint = paint('dim', `Leased. When handled: sensorium ack ${ids}`)
  return { json, text: `${shown.join('\n\n')}\n\n${hint}` }
}
