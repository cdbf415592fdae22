// Turns for parsing bodies that have arrived. The bodies of all callers share one step in a turn of the event loop. Few
// long ones are parsed at once, because the value of a JSON text may take twenty times the memory of the text: 32
// bodies of a megabyte of `{}` took 800 MB.
import { ANY_NUMBER, makeInTurn } from '../kernel/in-turn.ts'
import { makeStepTurns, type Pause } from '../kernel/step-turns.ts'
import type { Exchange } from './exchange.ts'

/** Reads one long body when its turn has come. */
type ReadInTurn = <T>(read: () => T | Promise<T>) => Promise<T>

export interface BodyTurns {
  /** Returns the pause to make between two steps, in which other bodies have their turn. */
  pauseOf(exchange: Exchange): Pause
  inTurnOf(exchange: Exchange): ReadInTurn
}

export function makeBodyTurns(): BodyTurns {
  const steps = makeStepTurns()
  const inTurn = makeInTurn({
    what: 'long bodies waiting',
    ofNode: 8,
    ofTenant: 2,
    ofAgent: 1,
    mostWaiting: ANY_NUMBER,
  })

  /** Returns the tenant and its agent, or the address twice. */
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
