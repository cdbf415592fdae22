// The kinds of connector.
import type { ConnectorKind } from '@sensorium/contract'
import { amqp } from './amqp.ts'
import type { Connector } from './connector.ts'

export const CONNECTORS: Record<ConnectorKind, Connector> = { amqp }

/** Returns the kind of connector that a URL is for. */
export const connectorFor = ({ protocol }: URL): Connector | undefined =>
  Object.values(CONNECTORS).find(({ protocols }) => protocols.includes(protocol))
