// Tells whether somebody floods: who has asked for most of what was asked of late, while others ask as well. Then turns
// of the event loop are kept short, at some cost to who floods. Where everybody asks for much, or one alone for all of
// it, long turns do more, and there is nobody who would gain from short ones.

/** So many requests are counted, and then counted anew. */
const WINDOW = 256
/** Who has asked for more of them than this floods. Of two that ask for the same nobody does. */
const MOST = (WINDOW * 2) / 3
/** What others must have asked for together to be there. */
const OTHERS = 4

export interface Flood<Who> {
  /** It asks for something. */
  heard(who: Who): void
  /** Whether it has asked for most of the last window, beside others. */
  isBy(who: Who): boolean
  /** Whether anybody has. */
  readonly isOn: boolean
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
    isBy: (who) => flooding !== null && flooding === who,
    get isOn() {
      return flooding !== null
    },
  }
}
