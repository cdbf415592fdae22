// The paths that the history of this tab leads back to, as far as the console has seen them: a reload forgets them.

/** By the index of the entry in the history. */
const paths: string[] = []

interface Visits {
  location: Visit
  subscribe(listener: (visit: { location: Visit }) => void): unknown
}

interface Visit {
  pathname: string
  state: { __TSR_index: number }
}

export function followVisits(history: Visits): void {
  const note = ({ pathname, state }: Visit): void => void (paths[state.__TSR_index] = pathname)
  note(history.location)
  history.subscribe(({ location }) => note(location))
}

/** Returns how many steps back in the history the list is that was left for this page, or null if none was. */
export const stepsBackTo = (list: string, index: number): number | null => stepsBack(paths, list, index)

/**
 * Passes entries of the list's items on the way, such as a memory whose link led to the next one. An entry of another
 * page ends the search: the list before it was left for something else.
 */
export function stepsBack(visited: readonly (string | undefined)[], list: string, index: number): number | null {
  let at = index - 1
  while (visited[at]?.startsWith(`${list}/`)) at--
  return visited[at] === list ? index - at : null
}
