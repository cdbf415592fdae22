// The connection options for a broker, and the meaning of its refusals. Pure.
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'rhea'
import type { ConnectorSettings } from './connector.ts'

/** A peer that is silent for this long counts as gone; both sides send something more often than that. */
const IDLE_MS = 15_000
/** The largest frame that a broker may send. */
export const MAX_FRAME_BYTES = 65_536

/** The broker refused the connection; it is not unreachable. Retrying does not help until a setting changes. */
const REFUSED_CONDITIONS =
  /^amqp:(unauthorized-access|not-found|not-allowed|not-implemented|invalid-field|precondition-failed)$/
const REFUSED_CERTIFICATES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/

export function connectionOptions({ id, url, tlsCa }: ConnectorSettings): ConnectionOptions {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const vhost = decodeURIComponent(pathname.slice(1))
  const common = {
    host,
    port: Number(port) || (protocol === 'amqps:' ? 5671 : 5672),
    // Without a user, the connector asks the broker for anonymous access.
    username: decodeURIComponent(username) || 'anonymous',
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    container_id: `sensorium-${id}`,
    hostname: vhost === '' ? host : `vhost:${vhost}`,
    idle_time_out: IDLE_MS,
    // Larger messages arrive in several frames, so that a message that is too large can be dropped while it arrives.
    max_frame_size: MAX_FRAME_BYTES,
    // `amqp.ts` reconnects instead: it waits by our clock, and shows the state to the operator.
    reconnect: false as const,
  }
  if (protocol !== 'amqps:') return { ...common, transport: 'tcp' }
  // An IP address has no server name to send; the certificate is then checked against the address itself.
  const tls = { servername: isIP(host) ? '' : host, rejectUnauthorized: true, ...(tlsCa === null ? {} : { ca: tlsCa }) }
  return { ...common, ...tls, transport: 'tls' } as ConnectionOptions
}

/**
 * Returns why a connection ended, in words, and whether the broker refused it. The fields of an error are whatever the
 * broker sent, of any type.
 */
export function describeEnd(error: unknown): { text: string; refused: boolean } {
  const { condition, code, description, message } = Object(error) as Record<string, unknown>
  const name = firstText(condition, code)
  const text = firstText(description, message, name, 'the connection was closed')
  return {
    text: text.includes(name) ? text : `${name}: ${text}`,
    refused: REFUSED_CONDITIONS.test(name) || REFUSED_CERTIFICATES.test(name),
  }
}

const firstText = (...values: unknown[]): string =>
  values.find((value): value is string => typeof value === 'string' && value !== '') ?? ''
