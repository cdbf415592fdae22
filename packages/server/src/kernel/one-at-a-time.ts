/**
 * Returns a function that does the work, never twice at once: calls during a run share one that begins when it ends.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return async () => {
    if (running) await running.catch(() => {})
    running ??= work().finally(() => (running = null))
    return running
  }
}
