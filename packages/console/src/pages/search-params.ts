// The filters of a page, as they are in the address: named texts, each of which may be missing.

/** Returns a function that keeps these names of a query string, as texts, and drops everything else. */
export function textIn<N extends string>(...names: readonly N[]) {
  return (search: Record<string, unknown>): { [name in N]?: string } =>
    Object.fromEntries(
      names
        .filter((name) => search[name] !== undefined && search[name] !== '')
        .map((name) => [name, String(search[name])]),
    ) as { [name in N]?: string }
}
