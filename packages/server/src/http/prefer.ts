// The Prefer header of RFC 7240: preferences separated by commas, each with parameters after semicolons. If a
// preference is named twice, the first counts.

const HANDLING = /^handling[ \t]*=[ \t]*"?([a-z]*)"?$/i

/** Whether a caller asked for `handling=strict`. */
export function prefersStrict(header: string): boolean {
  for (const preference of header.split(',')) {
    const handling = HANDLING.exec(preference.split(';', 1)[0]!.trim())
    if (handling) return handling[1]!.toLowerCase() === 'strict'
  }
  return false
}
