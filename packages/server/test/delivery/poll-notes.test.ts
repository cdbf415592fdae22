// Notes about a mailbox that spare polls a read of the store.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makePollNotes } from '../../src/delivery/poll-notes.ts'
import { eventIds, interest, poll, publish } from '../events/tools.ts'
import { asleep } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

const mailbox = { tenantId: 't', recipientId: 'r' }

/** Notes of a mailbox that was read at 0 and found empty, with a lease that lapses at 9,000. */
function lookedInto() {
  const notes = makePollNotes()
  const { note } = notes.polled(mailbox, 0)
  notes.foundEmpty(mailbox, 9_000, 0)
  return { notes, note }
}

test('[HND-6] a mailbox that was found empty is not read again for half a second, unless it changes', () => {
  const { notes } = lookedInto()
  assert.deepEqual(notes.knownEmpty(mailbox, 499, 499), { due: 9_000 })
  assert.equal(notes.knownEmpty(mailbox, 500, 500), null)
  notes.changed(['r'], false)
  assert.equal(notes.knownEmpty(mailbox, 1, 1), null)
})

test('[HND-6] a claim that took all that was added leaves the mailbox empty, until its lease lapses', () => {
  const { notes, note } = lookedInto()
  notes.changed(['r'], true)
  assert.equal(note.mayHaveMore, true)
  notes.tookAll(note, note.changes, 300, 100)
  assert.equal(note.mayHaveMore, false)
  assert.deepEqual(notes.knownEmpty(mailbox, 299, 299), { due: 300 })
  assert.equal(notes.knownEmpty(mailbox, 300, 300), null, 'the lease has lapsed')
})

test('[HND-6] a mailbox is not known to be empty if a delivery came during the claim', () => {
  const { notes, note } = lookedInto()
  notes.changed(['r'], true)
  const { changes } = note
  notes.changed(['r'], true)
  notes.tookAll(note, changes, 9_000, 100)
  assert.equal(notes.knownEmpty(mailbox, 100, 100), null)
  assert.equal(note.mayHaveMore, true)
})

test('[HND-6] nor if anything but an addition changed it: deliveries may have become due, so it is read again', () => {
  for (const changed of [['r'], null]) {
    const { notes, note } = lookedInto()
    notes.changed(changed, false)
    notes.tookAll(note, note.changes, 9_000, 100)
    assert.equal(notes.knownEmpty(mailbox, 100, 100), null)
  }
})

onBothEngines((engine) => {
  describe('polls one after the other', () => {
    const service = serviceForSuite(engine, { VISIBILITY_TIMEOUT_S: '1' })

    test('[HND-6] each poll finds what was published before it, and lapsed leases come again', async () => {
      const agent = await (await service.tenant()).agent()
      await interest(service, agent, { event_type: agent.id })
      const send = async () => (await publish(service, agent.token, { type: agent.id })).body.event_id as string
      assert.deepEqual(await poll(service, agent.token), [])
      const taken: string[] = []
      for (let i = 0; i < 5; i++) {
        taken.push(await send())
        assert.deepEqual(eventIds(await poll(service, agent.token, 'wait=5')), taken.slice(-1))
      }
      const again = await asleep(service.clock, () => poll(service, agent.token, 'wait=5'))
      await service.clock.advance(1_100)
      assert.deepEqual(eventIds(await again.result).sort(), taken.sort())
    })
  })
})
