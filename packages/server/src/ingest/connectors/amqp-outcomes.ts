// Reports the outcome of each message to the broker correctly.
//
// rhea reports the deliveries settled in one turn as a range with the outcome of the first, and does not check that the
// second has the same outcome (rhea 3.0.5, `write_dispositions`): a message released after an accepted one would be
// reported as accepted, and be lost. So one turn reports one outcome; a different outcome waits for the next turn.

/** Calls `act` now, or as soon as every earlier settlement with another outcome has been reported. */
type ReportOutcome = (outcome: string, act: () => void) => void

export function makeOutcomes(): ReportOutcome {
  const waiting: { outcome: string; act: () => void }[] = []
  /** The outcome that this turn reports. */
  let reported: string | null = null

  function report(): void {
    while (waiting.length > 0 && (reported === null || reported === waiting[0]!.outcome)) {
      const { outcome, act } = waiting.shift()!
      if (reported === null) {
        reported = outcome
        // rhea writes at the end of the tick.
        setImmediate(next)
      }
      act()
    }
  }

  function next(): void {
    reported = null
    report()
  }

  return (outcome, act) => {
    waiting.push({ outcome, act })
    report()
  }
}
