interface LoadOnce<T> {
  (): Promise<T>
  /**
   * Waits for a load under way, after those who asked for it. Returns undefined if nothing is loaded or the load fails.
   */
  settled(): Promise<T | undefined>
}

/** Returns a function that loads something with its first call. A failed load is tried again with the next call. */
export function loadOnce<T>(load: () => Promise<T>): LoadOnce<T> {
  let loading: Promise<T> | null = null
  const loaded = (): Promise<T> =>
    (loading ??= load().catch((error: unknown) => {
      loading = null
      throw error
    }))
  return Object.assign(loaded, { settled: async () => loading?.catch(() => undefined) })
}
