// A thread that computes in the background gives up the processor now and then. The kernel lets a running thread finish
// its time slice, three milliseconds or so, before it runs a thread that was woken meanwhile, whatever their
// priorities: an event that arrives in the middle of a search would wait that long at each of its steps. A sleep,
// however short, hands the processor over at once.

/** How long to compute at a stretch, and how long to sleep after it. */
const STRETCH_MS = 0.4
const REST_MS = 0.1

export type YieldCpu = () => void

/**
 * Returns a function to call often, which sleeps when a stretch is over. For dedicated threads only: it blocks
 * everything else in the thread.
 */
export function makeYieldCpu(): YieldCpu {
  const never = new Int32Array(new SharedArrayBuffer(4))
  let since = performance.now()
  return () => {
    if (performance.now() - since < STRETCH_MS) return
    Atomics.wait(never, 0, 0, REST_MS)
    since = performance.now()
  }
}

/** For callers that need not yield. */
export const neverYield: YieldCpu = () => {}
