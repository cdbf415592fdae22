// Decides when a read starts. The embedded store computes a read on the calling thread, and a read of many rows takes
// tens of milliseconds: twenty traversals that arrived together delayed everything else by half a second. A read that
// arrives alone starts at once, and so do the reads after it until together they have taken TURN_MS. From then on one
// read starts in each turn of the event loop; tenants take turns, and agents inside a tenant.
import { makeStepTurns } from '../kernel/step-turns.ts'
import { neverYield } from '../kernel/yield-cpu.ts'

/** How long the reads of one turn may take together before the next read waits; most take 0.1 to 0.3 ms. */
const TURN_MS = 2

/** Resolves when the read may start; undefined means at once. */
export type ReadTurn = (tenant: string, reader: string) => Promise<void> | undefined

export function makeReadTurns(now?: () => number): ReadTurn {
  // Reads are short: giving up the processor between them would cost 12 % of those that a node can do.
  const turns = makeStepTurns({ ...(now && { now }), yieldCpu: neverYield })
  return (tenant, reader) => (turns.isFree(TURN_MS) ? undefined : turns.take(tenant, reader))
}
