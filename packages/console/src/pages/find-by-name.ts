import type { Found } from './page.ts'

/** How many of a list the command palette looks through, because the service cannot search it by name. */
export const PALETTE_SEARCHES = 200
/** The palette shows six lines of each page. */
const MOST_FOUND = 5

interface Named {
  id: string
  name: string
}

interface Searched {
  /** The newest of the list. */
  newest: readonly Named[]
  /** The length of the whole list. */
  total: number
  kind: string
  /** The address of the list, to which that of an item adds its id. */
  path: string
}

/**
 * Finds items by a part of their name or id. If the list is longer than the part that was searched, the last line says
 * so and leads to the page of the list, which looks through more.
 */
export function findByName({ newest, total, kind, path }: Searched, text: string): Found[] {
  const typed = text.toLowerCase()
  const found = newest
    .filter(({ id, name }) => name.toLowerCase().includes(typed) || id.includes(typed))
    .map(({ id, name }) => ({ title: name, kind, to: `${path}/${id}` }))
  if (total <= newest.length) return found
  const searched = `${newest.length.toLocaleString()} of ${total.toLocaleString()}`
  const more = { title: `Only the newest ${searched} were searched: look through more`, kind: `${kind}s`, to: path }
  return [...found.slice(0, MOST_FOUND), { ...more, search: { search: text } }]
}
