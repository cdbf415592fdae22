// A thread that computes in the background leaves the processor now and then. The kernel lets who computes finish its
// slice, three milliseconds or so, before it runs somebody who has just been woken, whatever their ranks are: an event
// that arrives in the middle of a search would wait that long at each of its steps. A sleep, however short, hands the
// processor over at once.

/** How long to compute at a stretch, and how long to sleep then. */
const STRETCH_MS = 0.4
const REST_MS = 0.1

export type YieldCpu = () => void

/**
 * To be called often; it sleeps when a stretch is over. For threads of their own only: it stops everything else in
 * them.
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

/** For callers that need not. */
export const neverYield: YieldCpu = () => {}
