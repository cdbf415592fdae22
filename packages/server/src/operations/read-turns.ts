// When reads are begun. The embedded store computes a read where it is asked for, and one of many rows takes tens of
// milliseconds: twenty traversals that came together held everybody up for half a second. One that comes alone is begun at
// once, and so are those after it until they have taken a while together. Then one is begun in each turn of the event
// loop; tenants take turns, and agents inside a tenant.
import { makeStepTurns } from '../kernel/step-turns.ts'

/** What the reads of one turn may take together before the next one waits; most take 0.1 to 0.3 ms. */
const TURN_MS = 2

/** Resolves when the read may begin; undefined: at once. */
export type ReadTurn = (tenant: string, reader: string) => Promise<void> | undefined

export function makeReadTurns(now?: () => number): ReadTurn {
  const turns = makeStepTurns(now)
  return (tenant, reader) => (turns.isFree(TURN_MS) ? undefined : turns.take(tenant, reader))
}
