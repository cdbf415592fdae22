// Turns for responses that are made while they are read, and for bodies that are processed while their sender waits.
// Each holds a row of up to 10 MB, or a file, for as long as it lasts, which may be long.
import { ANY_NUMBER, makeInTurn, type InTurn } from '../kernel/in-turn.ts'

/**
 * All of them may wait: the work is done by now, and refusing it would hide what was leased or changed. Without the
 * places that are kept for others, four tenants whose clients read slowly would hold up everybody.
 */
export const largeResponses = (): InTurn =>
  makeInTurn({
    what: 'large responses waiting',
    ofNode: 16,
    keptForOthers: 8,
    ofTenant: 4,
    ofAgent: 2,
    mostWaiting: ANY_NUMBER,
  })

export const imports = (): InTurn => makeInTurn({ what: 'imports waiting', ofNode: 8, ofTenant: 2, ofAgent: 1 })
