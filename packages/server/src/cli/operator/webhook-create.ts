import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { mappingOf, needed } from './ingest-options.ts'

export const run: OperatorRun = async ({ options, secret: readSecret, call }) => {
  const { source, preset } = options
  const tenant = needed(options['tenant'], '--tenant <slug>')
  needed(source ?? preset, '--source <name> or --preset <github|stripe|standard>')
  const signing_secret = await readSecret('signing-secret', 'WEBHOOK_SIGNING_SECRET')
  const body = { tenant, source, preset, mapping: mappingOf(options), signing_secret }
  const json = await call(operations.createWebhook, { body })
  const { webhook, signing_secret: secret } = json
  return {
    json,
    text: `Webhook ${webhook.id} was created: ${webhook.source} posts to ${webhook.own_url}\nSigning secret (shown this once):  ${secret}`,
  }
}
