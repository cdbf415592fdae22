/** By the beginning of an id, up to its underscore: the slug of a tenant, which is a resource too, has none. */
const PAGES = { agt_: '/agents', chn_: '/channels', mem_: '/memory' } as const

/** Returns the page of the changed resource, or null if it has none. */
export function pageOf(resource: string): string | null {
  const page = Object.entries(PAGES).find(([prefix]) => resource.startsWith(prefix))?.[1]
  return page === undefined ? null : `${page}/${resource}`
}
