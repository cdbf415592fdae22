// The address of a PostgreSQL database: one server, or several of which one takes writes, as libpq writes it:
// postgres://user:password@first:5432,second:5433/name?target_session_attrs=read-write

interface DatabaseServers {
  /** One address for each server, in the order given. */
  urls: string[]
  /** Whether to look for the server that takes writes before any query. */
  mustFindPrimary: boolean
}

const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?$/

/** The values of target_session_attrs that a service which writes can use. */
const WRITABLE = ['any', 'read-write', 'primary']

/** The values of sslmode that the driver knows. It would take any other for verify-full. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** What `databaseServers` accepts, for messages. */
export const OPTIONS_ACCEPTED = `target_session_attrs may be ${WRITABLE.join(', ')}, and sslmode ${SSL_MODES.join(', ')}`

/** Returns the servers of the address, null if it is no such address. */
export function databaseServers(url: string): DatabaseServers | null {
  const parts = PARTS.exec(url)
  if (!parts) return null
  const [, scheme, user, hosts, path, query] = parts
  const options = new URLSearchParams(query ?? '')
  const wanted = options.get('target_session_attrs')
  if (wanted !== null && !WRITABLE.includes(wanted)) return null
  if (!SSL_MODES.includes(options.get('sslmode') || 'disable')) return null
  options.delete('target_session_attrs')
  // Unchanged if nothing was removed: the query may be spelled in a way that the driver knows.
  const rest = wanted === null ? (query ?? '') : options.size > 0 ? `?${options}` : ''
  const names = hosts!.split(',')
  if (names.length > 1 && names.includes('')) return null
  const urls = names.map((host) => `${scheme}${user}${host}${path}${rest}`)
  if (urls.some((one) => URL.parse(one) === null)) return null
  return { urls, mustFindPrimary: urls.length > 1 || (wanted !== null && wanted !== 'any') }
}

/** Returns the servers and the name of the database, without user, password and options: for messages. */
export function shownDatabaseUrl(url: string): string {
  const [, scheme, , hosts, path] = PARTS.exec(url) ?? []
  if (hosts === undefined) return ''
  // A password that holds a slash is not recognised as one.
  return `${scheme}${hosts}${path!.includes('@') ? '' : path}`
}
