// How a broker is reached, and what its refusals mean. Pure.
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'rhea'
import type { ConnectorSettings } from './connector.ts'

/** A peer that says nothing for this long is gone; both sides send something more often. */
const IDLE_MS = 15_000
const MAX_FRAME_BYTES = 65_536

/** Turned away, not out of reach: the same again will not help unless somebody changes something. */
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
    // Without a user the broker is asked for anonymous access.
    username: decodeURIComponent(username) || 'anonymous',
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    container_id: `sensorium-${id}`,
    hostname: vhost === '' ? host : `vhost:${vhost}`,
    idle_time_out: IDLE_MS,
    // Larger messages come in pieces, so that one that is too large can be dropped as it comes.
    max_frame_size: MAX_FRAME_BYTES,
    // Reconnecting is ours: its waits are the clock's, and its state is shown.
    reconnect: false as const,
  }
  if (protocol !== 'amqps:') return { ...common, transport: 'tcp' }
  // An address has no server name to ask for; the certificate is then checked for the address itself.
  const tls = { servername: isIP(host) ? '' : host, rejectUnauthorized: true, ...(tlsCa === null ? {} : { ca: tlsCa }) }
  return { ...common, ...tls, transport: 'tls' } as ConnectionOptions
}

/** Why a connection ended, in words, and whether the broker turned it away. */
export function describeEnd(error: unknown): { text: string; refused: boolean } {
  const { condition, code, description, message } = (error ?? {}) as {
    condition?: string
    code?: string
    description?: string
    message?: string
  }
  const name = condition ?? code ?? ''
  const text = description || message || name || 'the connection was closed'
  return {
    text: (name !== '' && !text.includes(name) ? `${name}: ${text}` : text).slice(0, 500),
    refused: REFUSED_CONDITIONS.test(name) || REFUSED_CERTIFICATES.test(name),
  }
}
