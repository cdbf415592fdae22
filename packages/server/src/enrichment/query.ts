// Makes a search for an event out of its own words: the subject, the words of its type, and the telling values of its
// data. Texts that people wrote come before names and small numbers. Values that only a program reads are left out, and
// so are the names of fields.

const MAX_LENGTH = 1_000
/** Characters of one value that are looked at. */
const MAX_TEXT = 10_000
/** Values of the data that are looked at, so that a large event costs no more. */
const MAX_VALUES = 2_000

/** Fields in which people write. */
const WRITTEN =
  /^(title|summary|subject|headline|name|label|message|msg|text|body|content|description|note|notes|comment|reason|error|question|symptom|status|topic|details?)$/i
const LETTER = /\p{L}/u
/** Identifiers of programs: UUIDs, hashes and keys, times, addresses. */
const FOR_PROGRAMS = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+$/i,
  /^[0-9a-f]{16,}$/i,
  /^[a-z]{2,5}_[0-9a-z]{16,}$/i,
  /^(?=.*\d)[0-9a-z+/=]{24,}$/i,
  /^\d{4}-\d{2}-\d{2}([T ][\d:.,Z+-]*)?$/,
  /^[a-z][a-z0-9+.-]*:\/\//i,
]
/** Larger numbers are times, amounts or ids; those with a fraction are measurements. */
const MAX_NUMBER = 99_999
/** Characters kept of a word: a longer one carries no meaning, and would take the room of words that do. */
const MAX_WORD = 60

/** The kinds of values, most telling first. */
const KINDS = 3

/** Returns how telling a value is: 0 is most telling, -1 is not telling at all. */
function kindOf(name: string, value: string | number): number {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value <= MAX_NUMBER ? 2 : -1
  if (FOR_PROGRAMS.some((pattern) => pattern.test(value.slice(0, 200)))) return -1
  if (!LETTER.test(value)) return 2
  return WRITTEN.test(name) || value.trim().includes(' ') ? 0 : 1
}

/** Returns the values of the data in their order, grouped by how telling they are. */
function tellingOf(data: unknown): string[][] {
  const kinds: string[][] = Array.from({ length: KINDS }, () => [])
  let looked = 0
  function collect(name: string, value: unknown): void {
    if (looked++ >= MAX_VALUES) return
    if (typeof value === 'string' || typeof value === 'number') {
      const kind = kindOf(name, value)
      if (kind >= 0) kinds[kind]!.push(String(value).slice(0, MAX_TEXT))
    } else if (Array.isArray(value)) {
      for (const item of value.slice(0, MAX_VALUES)) collect(name, item)
    } else if (typeof value === 'object' && value !== null) {
      // Not `Object.entries`, which took 100 ms for an object with 83,000 names.
      for (const inner of Object.keys(value)) {
        if (looked >= MAX_VALUES) return
        collect(inner, (value as Record<string, unknown>)[inner])
      }
    }
  }
  collect('', data)
  return kinds
}

const words = (text: string): string => text.replaceAll(/[/_.:-]+/g, ' ')

/** Returns a query for the memories that belong to this event, made of its words. */
export function queryOf(envelope: object): string {
  const { type, subject, data } = envelope as { type: string; subject?: string; data?: unknown }
  // `com.acme.order.created` says: order created. The first two parts name a company.
  const told = [subject === undefined ? '' : words(subject), words(type.split('.').slice(-2).join(' '))]
  const said = new Set([...told, ...tellingOf(data).flat()].map((text) => text.trim()).filter((text) => text !== ''))
  let query = ''
  for (const text of said) {
    const short = text
      .split(/\s+/)
      .map((word) => word.slice(0, MAX_WORD))
      .join(' ')
    query = `${query} ${short}`.trimStart().slice(0, MAX_LENGTH)
    if (query.length === MAX_LENGTH) break
  }
  return query.trim()
}
