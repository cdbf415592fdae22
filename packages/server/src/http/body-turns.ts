// Bodies that have arrived and are to be read: those of all callers share one step in a turn of the event loop, and few
// long ones are read at once, because the value of a JSON text may take twenty times its memory: 32 bodies of a megabyte
// of `{}` took 800 MB.
import { makeInTurn } from '../kernel/in-turn.ts'
import { makeStepTurns, type Pause } from '../kernel/step-turns.ts'
import type { Exchange } from './exchange.ts'

/** Reads one long body when its turn has come. */
export type ReadInTurn = <T>(read: () => T | Promise<T>) => Promise<T>

export interface BodyTurns {
  /** Lets others have their turn between two steps. */
  pauseOf(exchange: Exchange): Pause
  inTurnOf(exchange: Exchange): ReadInTurn
}

/** More cannot wait: requests in hand, and the room for bodies, are bounded. */
const ANY_NUMBER = 10_000

export function makeBodyTurns(): BodyTurns {
  const steps = makeStepTurns()
  const inTurn = makeInTurn({
    what: 'long bodies waiting',
    ofNode: 8,
    ofTenant: 2,
    ofAgent: 1,
    mostWaiting: ANY_NUMBER,
  })

  /** The agent and its tenant, or the address twice. */
  function namesOf({ place }: Exchange): [tenant: string, sender: string] {
    const [own, wider] = place ?? []
    return [wider?.key || (own?.key ?? ''), own?.key ?? '']
  }

  return {
    pauseOf: (exchange) => () => steps.take(...namesOf(exchange)),
    inTurnOf: (exchange) => (read) =>
      new Promise((resolve, reject) => {
        const [tenantId, id] = namesOf(exchange)
        inTurn({ tenantId, id }, async () => resolve(await read())).catch(reject)
      }),
  }
}
