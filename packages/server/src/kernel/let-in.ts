// Lets waiting connections in before a long step. A turn of the event loop accepts one connection, however many wait
// (libuv, since 1.45). If every turn ends with a long step, four hundred clients that connect at once are accepted one
// in each step. With a commit of 25 ms in each, the last client waited ten seconds before its request was read, and a
// refusal was as late as a response.
import { subscribe } from 'node:diagnostics_channel'
import { nextTurn } from './step-turns.ts'

/**
 * Bounds, so that a flood of connections does not stop the work either: a connection costs some 0.3 ms with its
 * request, and several if it pipelines a hundred. Without the bound on time a neighbour's commit waited 200 to 390 ms
 * beside such connections.
 */
const MOST_TURNS = 32
const MOST_MS = 6
/**
 * The bound on time is that of the step, but at least this. Otherwise, beside 3,000 connections that came and went,
 * every commit, however short, waited for 6 ms.
 */
const LEAST_MS = 1

let accepted = 0
subscribe('net.server.socket', () => {
  accepted++
})

/**
 * Gives the event loop a turn before a long step, and more turns while each brings a connection. `stepMs` is how long
 * such a step took of late.
 */
export async function acceptWaiting(stepMs = MOST_MS, now: () => number = () => performance.now()): Promise<void> {
  const since = now()
  const mostMs = Math.max(LEAST_MS, Math.min(stepMs, MOST_MS))
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const before = accepted
    await nextTurn()
    if (accepted === before || now() - since > mostMs) return
  }
}
