import { readFileSync } from 'node:fs'
import { operations } from '@sensorium/contract'
import { createConnector, type NewConnector } from '../ingest/connectors/create.ts'
import { checkedBody, type Command } from './command.ts'
import { MAPPING_OPTIONS, mappingOf, numberOf } from './ingest-options.ts'

export const connectorCreate: Command = {
  words: ['connector', 'create'],
  parameters: [],
  options: {
    tenant: 'slug',
    source: 'name',
    url: 'amqp(s)://…',
    address: 'queue',
    credit: 'number',
    ...MAPPING_OPTIONS,
    'tls-ca': 'file',
  },
  summary: 'Register an AMQP 1.0 connector; a running service begins to receive within seconds',
  async run({ options, withStore }) {
    const { tenant, source, url, address } = options
    const tls_ca = options['tls-ca'] === undefined ? undefined : readFileSync(options['tls-ca'], 'utf8')
    const given = {
      tenant,
      source,
      url,
      address,
      credit: numberOf(options['credit']),
      mapping: mappingOf(options),
      tls_ca,
    }
    const body = checkedBody(operations.createConnector, given) as unknown as NewConnector
    const json = await withStore((store, tools) => store.tx((tx) => createConnector(tx, tools, body)))
    const { connector } = json
    return {
      json,
      text: `Connector ${connector.id} is made: ${connector.source} from ${connector.address} at ${connector.url}`,
    }
  },
}
