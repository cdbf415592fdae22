// What was promised and what came. Clients write into it what they were told; at the end it is compared with what the
// service says of every event. It knows nothing of how the service is reached or broken.
//
// 1. An event that was answered 202 is delivered to every recipient once: acknowledged, dead-lettered or still waiting.
// 2. An event whose publisher got no answer is there for all of its recipients or for none.
// 3. What was acknowledged or dead-lettered, with the response read, is not handed out again.
// 4. Nothing is handed out twice inside a lease.
// 5. A memory that was answered 201 can be read, word for word.

export interface Handed {
  id: string
  event_id: string
}

/** One recipient's delivery of one event, as the service tells it. */
export interface Receipt {
  agent_id: string
  state: string
}

export type Settlement = 'acknowledged' | 'dead_lettered'

interface Delivery {
  id: string
  eventId: string
  agent: string
  /** Not before this it may be handed out again. */
  leasedUntil: number
  /** What its recipient was told, and when that was read; null while no response came. */
  settled: { as: Settlement; at: number } | null
}

export interface Totals {
  sent: number
  accepted: number
  handed: number
  acknowledged: number
  dead_lettered: number
  memories: number
}

export interface Ledger {
  sent(eventId: string): void
  accepted(eventId: string): void
  /** A poll that was sent at `asked` and read at `read` brought these. */
  handed(agent: string, deliveries: readonly Handed[], asked: number, read: number): void
  /** A push brought this. Only the service knows when its lease began, and whether it read the response. */
  pushed(agent: string, delivery: Handed): void
  /** The response said that all of these are settled. */
  settled(deliveryIds: readonly string[], as: Settlement, at: number): void
  /** The database lost its last moments, as it may lose leases: what was leased may come again at once. */
  leasesForgotten(): void
  remembered(memoryId: string, content: string): void
  events(): string[]
  memories(): [id: string, content: string][]
  /** What the service says of an event at the end; null where it knows none. */
  compare(eventId: string, receipts: readonly Receipt[] | null): void
  compareMemory(memoryId: string, content: string | null): void
  totals(): Totals
  /** What was broken, in words. */
  broken(): string[]
}

export function makeLedger(recipients: readonly string[], leaseMs: number): Ledger {
  const events = new Map<string, { accepted: boolean }>()
  const deliveries = new Map<string, Delivery>()
  const ofEvent = new Map<string, string>()
  const memories = new Map<string, string>()
  const broken: string[] = []
  let handed = 0

  function hand(agent: string, { id, event_id }: Handed, asked: number, read: number): void {
    handed++
    if (!events.has(event_id)) broken.push(`${event_id} was handed out and never sent`)
    const key = `${agent} ${event_id}`
    const before = ofEvent.get(key)
    if (before !== undefined && before !== id) broken.push(`${event_id} has two deliveries for ${agent}`)
    ofEvent.set(key, id)
    const known = deliveries.get(id)
    if (known?.settled && known.settled.at < asked) broken.push(`${event_id} was ${known.settled.as} and came again`)
    // It was leased after the poll before was sent, so its lease ends no earlier than this.
    if (known && read < known.leasedUntil)
      broken.push(`${event_id} was handed out inside a lease, ${Math.ceil(known.leasedUntil - read)} ms before its end`)
    deliveries.set(id, {
      id,
      eventId: event_id,
      agent,
      leasedUntil: asked + leaseMs,
      settled: known?.settled ?? null,
    })
  }

  function compareState(eventId: string, { agent_id, state }: Receipt): void {
    const id = ofEvent.get(`${agent_id} ${eventId}`)
    const told = id === undefined ? null : deliveries.get(id)!.settled
    if (state === 'acknowledged' && id === undefined)
      broken.push(`${eventId} is acknowledged for ${agent_id}, who never had it`)
    if (told && told.as !== state) broken.push(`${eventId} was ${told.as} for ${agent_id}, and is ${state}`)
    if (state !== 'acknowledged' && state !== 'dead_lettered')
      broken.push(`${eventId} is ${state} for ${agent_id}, and nobody is handed it`)
  }

  const count = (as: Settlement): number => [...deliveries.values()].filter(({ settled }) => settled?.as === as).length

  return {
    sent: (eventId) => void (events.has(eventId) || events.set(eventId, { accepted: false })),
    accepted: (eventId) => void (events.get(eventId)!.accepted = true),
    handed(agent, given, asked, read) {
      for (const delivery of given) hand(agent, delivery, asked, read)
    },
    pushed: (agent, delivery) => hand(agent, delivery, -Infinity, Infinity),
    settled(ids, as, at) {
      for (const id of ids) deliveries.get(id)!.settled ??= { as, at }
    },
    leasesForgotten() {
      for (const delivery of deliveries.values()) delivery.leasedUntil = 0
    },
    remembered: (memoryId, content) => void memories.set(memoryId, content),
    events: () => [...events.keys()],
    memories: () => [...memories],
    compare(eventId, receipts) {
      const { accepted } = events.get(eventId)!
      if (receipts === null) {
        if (accepted) broken.push(`${eventId} was accepted and is gone`)
        if (recipients.some((agent) => ofEvent.has(`${agent} ${eventId}`)))
          broken.push(`${eventId} was handed out and is gone`)
        return
      }
      const reached = receipts.map(({ agent_id }) => agent_id).sort()
      const wanted = [...recipients].sort()
      if (reached.join() !== wanted.join())
        broken.push(`${eventId} went to ${reached.length} of ${wanted.length} recipients`)
      for (const receipt of receipts) compareState(eventId, receipt)
    },
    compareMemory(memoryId, content) {
      if (content !== memories.get(memoryId)) broken.push(`the memory ${memoryId} is not as it was stored`)
    },
    totals: () => ({
      sent: events.size,
      accepted: [...events.values()].filter(({ accepted }) => accepted).length,
      handed,
      acknowledged: count('acknowledged'),
      dead_lettered: count('dead_lettered'),
      memories: memories.size,
    }),
    broken: () => broken,
  }
}
