// The ledger of the fault runs notices each breach: a ledger that could not would prove nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLedger, type Ledger, type Settlement } from '../../../../faults/ledger.ts'

const LEASE_MS = 1_000
const RECIPIENTS = ['a', 'b']

/** One event that was accepted, handed to both recipients and settled by both; each argument makes something wrong. */
function told(change: (ledger: Ledger) => void = () => {}, states: Settlement[] = ['acknowledged', 'dead_lettered']) {
  const ledger = makeLedger(RECIPIENTS, LEASE_MS)
  ledger.sent('e')
  ledger.accepted('e')
  for (const [i, agent] of RECIPIENTS.entries()) {
    ledger.handed(agent, [{ id: `d-${agent}`, event_id: 'e' }], 10, 20)
    ledger.settled([`d-${agent}`], (['acknowledged', 'dead_lettered'] as const)[i]!, 30)
  }
  change(ledger)
  ledger.compare(
    'e',
    RECIPIENTS.map((agent_id, i) => ({ agent_id, state: states[i]! })),
  )
  return ledger.broken()
}

test('[FLT-1] a ledger in order reports nothing', () => {
  assert.deepEqual(told(), [])
})

test('[FLT-1] an accepted event that is gone, or reached one of two recipients, is a breach', () => {
  const gone = makeLedger(RECIPIENTS, LEASE_MS)
  gone.sent('e')
  gone.accepted('e')
  gone.compare('e', null)
  assert.deepEqual(gone.broken(), ['e was accepted and is gone'])
  const half = makeLedger(RECIPIENTS, LEASE_MS)
  half.sent('e')
  half.handed('a', [{ id: 'd', event_id: 'e' }], 0, 1)
  half.compare('e', [{ agent_id: 'a', state: 'acknowledged' }])
  assert.deepEqual(half.broken(), ['e went to 1 of 2 recipients'])
})

test('[FLT-1] an event without a response may be gone, but not if a recipient was handed it', () => {
  const ledger = makeLedger(RECIPIENTS, LEASE_MS)
  ledger.sent('e')
  ledger.compare('e', null)
  assert.deepEqual(ledger.broken(), [])
  ledger.handed('a', [{ id: 'd', event_id: 'e' }], 0, 1)
  ledger.compare('e', null)
  assert.deepEqual(ledger.broken(), ['e was handed out and is gone'])
})

test('[FLT-1] a delivery settled before the poll was sent must not come again', () => {
  const again = (asked: number) => (ledger: Ledger) =>
    ledger.handed('a', [{ id: 'd-a', event_id: 'e' }], asked, 10 + LEASE_MS)
  assert.deepEqual(told(again(31)), ['e was acknowledged and came again'])
  assert.deepEqual(told(again(29)), [], 'the two crossed')
})

test('[FLT-1] a delivery comes once inside its lease, unless leases were forgotten', () => {
  const ledger = makeLedger(RECIPIENTS, LEASE_MS)
  ledger.sent('e')
  const hand = (asked: number, read: number): void => ledger.handed('a', [{ id: 'd', event_id: 'e' }], asked, read)
  hand(0, 5)
  hand(995, LEASE_MS)
  assert.deepEqual(ledger.broken(), [])
  ledger.leasesForgotten()
  hand(1_000, 1_001)
  assert.deepEqual(ledger.broken(), [])
  hand(1_500, 1_999)
  assert.deepEqual(ledger.broken(), ['e was handed out inside a lease, 1 ms before its end'])
})

test('[FLT-1] a state that differs from what its recipient was told, or that never ends, is a breach', () => {
  assert.deepEqual(told(undefined, ['dead_lettered', 'dead_lettered']), [
    'e was acknowledged for a, and is dead_lettered',
  ])
  const ledger = makeLedger(['a'], LEASE_MS)
  ledger.sent('e')
  ledger.compare('e', [{ agent_id: 'a', state: 'pending' }])
  assert.deepEqual(ledger.broken(), ['e is pending for a, and nobody is handed it'])
})

test('[FLT-1] two deliveries of one event, an event never sent and a changed memory are breaches', () => {
  const ledger = makeLedger(['a'], LEASE_MS)
  ledger.handed('a', [{ id: 'd1', event_id: 'e' }], 0, 1)
  ledger.sent('e')
  ledger.handed('a', [{ id: 'd2', event_id: 'e' }], 0, 1)
  ledger.remembered('m', 'as it was')
  ledger.compareMemory('m', 'as it was')
  ledger.compareMemory('m', null)
  assert.deepEqual(ledger.broken(), [
    'e was handed out and never sent',
    'e has two deliveries for a',
    'the memory m is not as it was stored',
  ])
})
