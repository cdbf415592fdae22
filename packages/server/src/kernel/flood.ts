// Detects a flood: one caller has sent most of the recent requests, while others send some as well. Turns of the event
// loop are then kept short, at some cost to the caller that floods. If all callers send much, or one alone sends
// everything, long turns get more done, and no caller would gain from short ones.

/** How many requests are counted before the count starts anew. */
const WINDOW = 256
/** A caller that sent more of them than this floods. Of two callers that send equally much, neither does. */
const MOST = (WINDOW * 2) / 3
/** How many of them the other callers must have sent together to count as present. */
const OTHERS = 4

interface Flood<Who> {
  /** Counts a request of `who`. */
  heard(who: Who): void
  /** Whether `who` sent most of the last window, beside others. */
  isFlooding(who: Who): boolean
  /** Whether any caller did. */
  readonly isActive: boolean
}

export function watchForFlood<Who>(): Flood<Who> {
  let counts = new Map<Who, number>()
  let heard = 0
  let flooding: Who | null = null

  function endWindow(): void {
    flooding = null
    for (const [who, count] of counts) if (count > MOST && count <= WINDOW - OTHERS) flooding = who
    counts = new Map()
    heard = 0
  }

  return {
    heard(who) {
      counts.set(who, (counts.get(who) ?? 0) + 1)
      if (++heard === WINDOW) endWindow()
    },
    isFlooding: (who) => flooding !== null && flooding === who,
    get isActive() {
      return flooding !== null
    },
  }
}
