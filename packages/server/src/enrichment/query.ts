// What to remember about an event: its own words. The subject, the words of its type, and the texts and numbers in its
// data.

const MAX_LENGTH = 1_000

/** Collects the values of the data in their order, names of fields too, until there is enough. */
function collect(value: unknown, into: string[], room: { left: number }): void {
  if (room.left <= 0) return
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).slice(0, room.left)
    into.push(text)
    room.left -= text.length
  } else if (Array.isArray(value)) for (const item of value) collect(item, into, room)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (typeof item === 'object') collect(item, into, room)
      else collect(`${name} ${String(item)}`, into, room)
    }
  }
}

/** A search for what belongs to this event, made of its words. */
export function queryOf(envelope: object): string {
  const { type, subject, data } = envelope as { type: string; subject?: string; data?: unknown }
  const words: string[] = []
  const room = { left: MAX_LENGTH }
  if (subject !== undefined) collect(subject.replaceAll(/[/_.-]+/g, ' '), words, room)
  // `com.acme.order.created` says: order created. The first two parts name a company.
  collect(type.split('.').slice(-2).join(' ').replaceAll(/[_-]+/g, ' '), words, room)
  collect(data, words, room)
  return words.join(' ').trim()
}
