// What became of messages, told so that each is told its own.
//
// The library tells of deliveries that were settled in one turn as a range, with the outcome of its first, and does not
// look whether the second has the same (rhea 3.0.5, `write_dispositions`): one that was given back behind one that was
// accepted would be told as accepted, and be lost. So a turn tells one outcome; another waits for the next turn.

/** Carries out `act` now, or as soon as what was settled before it with another outcome has been told. */
export type TellOutcome = (outcome: string, act: () => void) => void

export function makeOutcomes(): TellOutcome {
  const waiting: { outcome: string; act: () => void }[] = []
  /** The outcome that this turn tells. */
  let told: string | null = null

  function tell(): void {
    while (waiting.length > 0 && (told === null || told === waiting[0]!.outcome)) {
      const { outcome, act } = waiting.shift()!
      if (told === null) {
        told = outcome
        // The library writes at the end of the tick.
        setImmediate(next)
      }
      act()
    }
  }

  function next(): void {
    told = null
    tell()
  }

  return (outcome, act) => {
    waiting.push({ outcome, act })
    tell()
  }
}
