// The formats that schemas name, each checked in linear time.

// Year to second, fraction, zone. The last day of the month is checked against the calendar below.
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

export function isDateTime(text: string): boolean {
  const parts = DATE_TIME.exec(text)
  if (!parts) return false
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return false
  if (day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()) return false
  // At the edges a zone moves the year out of four digits, and a client could not send back what the response shows.
  const at = Date.parse(text)
  return at >= FIRST && at <= LAST
}

// RFC 3986, in linear time: each optional part begins with a character of its own. Without a scheme the first segment
// has no colon.
const PCHAR = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
const AUTHORITY =
  "//(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?(?:\\[[0-9A-Fa-f:.]{2,45}\\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\\d*)?(?=[/?#]|$)"
const SCHEME = '[A-Za-z][A-Za-z0-9+.-]*:'
const REST = `(?:${PCHAR}|/)*(?:\\?(?:${PCHAR}|[/?])*)?(?:#(?:${PCHAR}|[/?])*)?`
const URI = new RegExp(`^${SCHEME}(?:${AUTHORITY})?${REST}$`)
const RELATIVE = new RegExp(`^(?:${AUTHORITY})?${REST}$`)

export const isUri = (text: string): boolean => URI.test(text) && !text.endsWith(':')

export const isUriReference = (text: string): boolean =>
  text.length > 0 && (isUri(text) || (RELATIVE.test(text) && !/^[^/?#]*:/.test(text)))

export function isHttpUrl(text: string): boolean {
  if (!isUri(text)) return false
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return false
  try {
    // User and password are sent decoded: with `%ff`, which is no UTF-8, no request could be made.
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}

/** Anything but white space: what JavaScript takes for that, and U+0085, which Unicode does. */
const VISIBLE = /[^\s\u0085]/

export const isFilledText = (text: string): boolean => !text.includes('\0') && VISIBLE.test(text)
