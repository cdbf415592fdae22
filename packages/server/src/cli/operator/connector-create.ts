import { readFileSync } from 'node:fs'
import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { mappingOf, needed, numberOf } from './ingest-options.ts'

export const run: OperatorRun = async ({ options, secret, call }) => {
  const tenant = needed(options['tenant'], '--tenant <slug>')
  const source = needed(options['source'], '--source <name>')
  const address = needed(options['address'], '--address <queue>')
  const url = needed(await secret('url', 'CONNECTOR_URL'), '--url - (read from standard input) or CONNECTOR_URL')
  const tls_ca = options['tls-ca'] === undefined ? undefined : readFileSync(options['tls-ca'], 'utf8')
  const body = {
    tenant,
    source,
    url,
    address,
    credit: numberOf(options['credit']),
    mapping: mappingOf(options),
    tls_ca,
  }
  const json = await call(operations.createConnector, { body })
  const { connector } = json
  return {
    json,
    text: `Connector ${connector.id} was created: ${connector.source} from ${connector.address} at ${connector.url}`,
  }
}
