// Lets in who waits to be connected. A turn of the event loop accepts one connection, however many there are (libuv,
// since 1.45). Where every turn ends with a long step, four hundred clients that come at once are let in one for each
// step: with a commit of 25 ms in each the last of them waited ten seconds before anybody read what it asked, and a
// refusal was as late as a response.
import { subscribe } from 'node:diagnostics_channel'

/**
 * So that a flood of connections does not stop the work either: they cost some 0.3 ms each with what they ask, and those
 * that pipeline a hundred requests several. Without the time a neighbour's commit waited 200 to 390 ms beside such.
 */
const MOST_TURNS = 32
const MOST_MS = 6
/** And no longer than what it makes up for: beside 3,000 that came and went every commit, however short, waited for 6 ms. */
const LEAST_MS = 1

let accepted = 0
subscribe('net.server.socket', () => {
  accepted++
})

/**
 * Before a long step: gives the event loop a turn, and more of them while each brings a connection. `stepMs` is what such
 * a step took of late.
 */
export async function letIn(stepMs = MOST_MS, now: () => number = () => performance.now()): Promise<void> {
  const since = now()
  const mostMs = Math.max(LEAST_MS, Math.min(stepMs, MOST_MS))
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const before = accepted
    await new Promise(setImmediate)
    if (accepted === before || now() - since > mostMs) return
  }
}
