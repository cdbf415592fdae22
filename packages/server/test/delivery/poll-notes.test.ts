// What is known of a mailbox between two looks.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makePollNotes } from '../../src/delivery/poll-notes.ts'
import { eventIds, interest, poll, publish } from '../events/tools.ts'
import { asleep } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service } from '../support/service.ts'

const mailbox = { tenantId: 't', recipientId: 'r' }

/** Notes of a mailbox that was looked into at 0 and found empty, with a lease that lapses at 9,000. */
function lookedInto() {
  const notes = makePollNotes()
  const { last } = notes.notice(mailbox, 0)
  notes.foundEmpty(mailbox, 9_000, 0)
  return { notes, last }
}

test('[HND-6] a mailbox that was found empty needs no look for half a second, unless something stirs', () => {
  const { notes } = lookedInto()
  assert.deepEqual(notes.knownEmpty(mailbox, 499, 499), { due: 9_000 })
  assert.equal(notes.knownEmpty(mailbox, 500, 500), null)
  notes.stirred(['r'], false)
  assert.equal(notes.knownEmpty(mailbox, 1, 1), null)
})

test('[HND-6] a claim that took all that was added leaves the mailbox empty, until its lease lapses', () => {
  const { notes, last } = lookedInto()
  notes.stirred(['r'], true)
  assert.equal(last.more, true)
  notes.tookAll(last, last.stirs, 300, 100)
  assert.equal(last.more, false)
  assert.deepEqual(notes.knownEmpty(mailbox, 299, 299), { due: 300 })
  assert.equal(notes.knownEmpty(mailbox, 300, 300), null, 'the lease has lapsed')
})

test('[HND-6] it is not known to be empty where something came while it was claimed from', () => {
  const { notes, last } = lookedInto()
  notes.stirred(['r'], true)
  const { stirs } = last
  notes.stirred(['r'], true)
  notes.tookAll(last, stirs, 9_000, 100)
  assert.equal(notes.knownEmpty(mailbox, 100, 100), null)
  assert.equal(last.more, true)
})

test('[HND-6] nor where anything else than an addition stirred it: what is due by itself has to be read again', () => {
  for (const stirred of [['r'], null]) {
    const { notes, last } = lookedInto()
    notes.stirred(stirred, false)
    notes.tookAll(last, last.stirs, 9_000, 100)
    assert.equal(notes.knownEmpty(mailbox, 100, 100), null)
  }
})

onBothEngines((engine) => {
  describe('polls one after the other', () => {
    let service: Service
    before(async () => {
      service = await startService(engine, { VISIBILITY_TIMEOUT_S: '1' })
    })
    after(() => service.stop())

    test('[HND-6] each finds what was published before it, and what was leased comes again when it lapses', async () => {
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
