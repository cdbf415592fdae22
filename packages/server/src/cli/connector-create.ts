import { readFileSync } from 'node:fs'
import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'
import { MAPPING_OPTIONS, mappingOf, numberOf } from './ingest-options.ts'

export const connectorCreate: Command = {
  words: ['connector', 'create'],
  parameters: [],
  options: {
    tenant: 'slug',
    source: 'name',
    url: 'amqp(s)://…|-',
    address: 'queue',
    credit: 'number',
    ...MAPPING_OPTIONS,
    'tls-ca': 'file',
  },
  summary: 'Register an AMQP 1.0 connector; a running service begins to receive within seconds',
  async run({ options, secret, call }) {
    const { tenant, source, address } = options
    const url = await secret('url', 'CONNECTOR_URL')
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
      text: `Connector ${connector.id} is made: ${connector.source} from ${connector.address} at ${connector.url}`,
    }
  },
}
