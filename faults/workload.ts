// What goes on while things break: publishers, recipients that acknowledge, and a writer of memories.
import { setTimeout as sleep } from 'node:timers/promises'
import { drain, makeActor, makePushed, publish, receive, remember, untilPushed, type Actor } from './actors.ts'
import { makeCaller } from './client.ts'
import { makeLedger, type Ledger, type Receipt } from './ledger.ts'
import { ADMIN_KEY, LEASE_S, type Site } from './site.ts'

export interface Workload {
  ledger: Ledger
  /** Resolves when so many more events were accepted. */
  progress(events: number): Promise<void>
  /** No new work; what is under way comes to its end. */
  stop(): Promise<void>
  /** Everything that is left is handed out and acknowledged, and the ledger compared with the service. */
  settle(): Promise<void>
}

const PUBLISHERS = 6
/** Each sends the next event so long after the response to the last: more would only keep the machine busy. */
const PAUSE_MS = 40
const RECIPIENTS = 2
const POLLS_OF_A_RECIPIENT = 2
/** Nodes know the clock that they share as exactly as a busy database tells it; 14 ms were seen. */
const CLOCKS_APART_MS = 200

/** Whatever the service still says of every event and memory goes into the ledger. */
async function compareAll({ untilAnswered }: Actor, ledger: Ledger): Promise<void> {
  for (const id of ledger.events()) {
    const { status, body } = await untilAnswered<{ deliveries: Receipt[] }>([200, 404], 'GET', `/v1/events/${id}`)
    ledger.compare(id, status === 404 ? null : body.deliveries)
  }
  for (const [id] of ledger.memories()) {
    const { status, body } = await untilAnswered<{ content: string }>([200, 404], 'GET', `/v1/memories/${id}`)
    ledger.compareMemory(id, status === 404 ? null : body.content)
  }
}

/** `pushes`: whether one more recipient is pushed to. After a kill its leases take half a minute to lapse. */
export async function startWorkload({ urls, farEnds }: Site, pushes: boolean): Promise<Workload> {
  const admin = makeCaller(urls, ADMIN_KEY)
  const sender = await makeActor(admin, urls, 'sender')
  async function makeRecipient(name: string): Promise<Actor> {
    const recipient = await makeActor(admin, urls, name)
    const interest = { event_type: 'fault.*', priority: 0, enrichment_depth: 'none' }
    await recipient.untilAnswered([201], 'POST', `/v1/agents/${recipient.id}/interests`, interest)
    return recipient
  }
  const recipients: Actor[] = []
  for (let i = 0; i < RECIPIENTS; i++) recipients.push(await makeRecipient(`recipient ${i}`))
  const pushed = pushes ? await makeRecipient('pushed to') : null
  const ids = [...recipients, ...(pushed ? [pushed] : [])].map(({ id }) => id)
  const ledger = makeLedger(ids, LEASE_S * 1_000 - CLOCKS_APART_MS)
  if (pushed) await makePushed(admin, pushed, farEnds, ledger)
  let isOver = false
  let accepted = 0
  let n = 0

  const keepOn = async (work: () => Promise<unknown>, pauseMs: number): Promise<void> => {
    while (!isOver) {
      await work()
      await sleep(pauseMs)
    }
  }
  const publishOne = async (): Promise<void> => {
    if (await publish(sender, ledger, n++, () => isOver)) accepted++
  }
  const loops = [
    ...Array.from({ length: PUBLISHERS }, () => keepOn(publishOne, PAUSE_MS)),
    ...recipients.flatMap((recipient) =>
      Array.from({ length: POLLS_OF_A_RECIPIENT }, () => keepOn(() => receive(recipient, ledger), 0)),
    ),
    keepOn(() => remember(sender, ledger, n), 200),
  ]

  return {
    ledger,
    async progress(events) {
      for (const target = accepted + events; accepted < target; ) await sleep(5)
    },
    async stop() {
      isOver = true
      await Promise.all(loops)
    },
    async settle() {
      await Promise.all(recipients.map((recipient) => drain(recipient, ledger)))
      if (pushed) await untilPushed(admin, pushed)
      await compareAll(sender, ledger)
    },
  }
}
