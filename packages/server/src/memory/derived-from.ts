// Notes in the metadata of a memory which memories were merged into it. Metadata is kept as the text that was received:
// only this member is written, so that numbers keep all their digits and texts their spaces.

const DERIVED = 'derived_from'
/** Scanning longer metadata would hold up other requests. */
const LONG_METADATA = 65_536

interface Span {
  start: number
  end: number
}

/** Returns the index after the closing quote of the string that begins at `at`. */
function afterString(text: string, at: number): number {
  let i = at + 1
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i + 1
}

/**
 * Returns where the value of a member lies in the text of an object, which is valid JSON. Of several members with one
 * name the last is returned, which is the one that counts.
 */
function memberValue(text: string, name: string): Span | null {
  let depth = 0
  let key = ''
  let start = -1
  let found: Span | null = null
  for (let i = 0; i < text.length; ) {
    const c = text[i]!
    const next = c === '"' ? afterString(text, i) : i + 1
    // Within a value, however deep, `start` is set.
    const isOutside = start === -1
    if (isOutside && c === '"') key = JSON.parse(text.slice(i, next)) as string
    else if (isOutside && c === ':') start = next
    else if (depth === 1 && (c === ',' || c === '}')) {
      if (key === name && start !== -1) found = { start, end: i }
      start = -1
    }
    if (c === '{' || c === '[') depth++
    else if (c === '}' || c === ']') depth--
    i = next
  }
  return found
}

/**
 * Returns metadata with the merged memories noted; the rest of the text stays. Long metadata that contains the name of
 * the member already is returned as it is.
 */
export function withDerived(metadata: string, ids: readonly string[]): string {
  const isLong = metadata.length > LONG_METADATA
  if (isLong && metadata.includes(`"${DERIVED}"`)) return metadata
  const span = isLong ? null : memberValue(metadata, DERIVED)
  if (span === null) {
    const rest = metadata.trim().slice(1).trimStart()
    return `{"${DERIVED}":${JSON.stringify(ids)}${rest === '}' ? '' : ','}${rest}`
  }
  const before = JSON.parse(metadata.slice(span.start, span.end)) as unknown
  const noted = Array.isArray(before) ? (before as unknown[]) : []
  const all = JSON.stringify([...new Set([...noted, ...ids])])
  return `${metadata.slice(0, span.start)}${all}${metadata.slice(span.end)}`
}
