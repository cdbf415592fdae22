// The kinds of connector there are.
import type { ConnectorKind } from '@sensorium/contract'
import { amqp } from './amqp.ts'
import type { Connector } from './connector.ts'

export const CONNECTORS: Record<ConnectorKind, Connector> = { amqp }

/** The kind whose broker a URL names. */
export const connectorFor = ({ protocol }: URL): Connector | undefined =>
  Object.values(CONNECTORS).find(({ protocols }) => protocols.includes(protocol))
