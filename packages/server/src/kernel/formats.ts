// The formats that schemas name, each checked in linear time.

// Year to second, fraction, zone. Which day a month ends on is asked of the calendar below.
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

export function isDateTime(text: string): boolean {
  const parts = DATE_TIME.exec(text)
  if (!parts) return false
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [number, number, number, number, number, number]
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return false
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}

// Printable ASCII without the characters a URI never holds, and whole percent escapes. Letters beyond ASCII are taken as IRIs.
const REFERENCE = /^(?:[^\x00-\x20<>"{}|\\^`%\x7f]|%[0-9A-Fa-f]{2})*$/
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

export const isUriReference = (text: string): boolean => text.length > 0 && REFERENCE.test(text) && text.isWellFormed()

export const isUri = (text: string): boolean => SCHEME.test(text) && text.length > text.indexOf(':') + 1 && REFERENCE.test(text) && text.isWellFormed()

export function isHttpUrl(text: string): boolean {
  if (!isUri(text)) return false
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== ''
}

export const isFilledText = (text: string): boolean => !text.includes('\0') && text.trim() !== ''
