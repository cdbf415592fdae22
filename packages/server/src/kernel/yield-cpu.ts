// A thread that computes for long gives up the processor now and then. The kernel lets a running thread finish its time
// slice, three or four milliseconds, before it runs a thread that was woken meanwhile on the same processor, whatever
// their priorities: an event that arrives in the middle of a search would wait that long at each of its steps. A sleep,
// however short, hands the processor over at once.

/** How long to compute at a stretch, and how long to sleep after it. */
const STRETCH_MS = 0.4
const REST_MS = 0.1
/** The shortest sleep: some 0.06 ms. */
const SHORT_REST_MS = 0.01

export type YieldCpu = () => void

/**
 * Returns a function to call often, which sleeps when a stretch is over. It blocks everything else in the thread, so
 * the main thread calls it between steps of long work alone.
 */
export function makeYieldCpu(restMs = REST_MS): YieldCpu {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let since = performance.now()
  return () => {
    if (performance.now() - since < STRETCH_MS) return
    Atomics.wait(never, 0, 0, restMs)
    since = performance.now()
  }
}

/**
 * For the main thread. The thread that flushes a commit is woken several times for each, often on this processor:
 * beside costly filters of another tenant the slowest hundredth of publishes took 8 ms, and takes 3. Long events are
 * taken 10 % more slowly for it.
 */
export const yieldBetweenSteps: YieldCpu = makeYieldCpu(SHORT_REST_MS)

/** For callers that need not yield. */
export const neverYield: YieldCpu = () => {}
