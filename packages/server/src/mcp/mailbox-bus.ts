// Tells an open subscription that its own mailbox has something new, and nothing more: the caller reads what arrived
// with a tool or the resource, under its own scopes.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Wakeups } from '../delivery/wake.ts'
import { MAILBOX_URI } from './resources.ts'

interface Subscriber {
  recipientId: string
  /** Resolves when the client has taken the next message. */
  taken(): Promise<void>
}

interface MailboxBus extends ServerEventBus {
  /** Subscriptions that are opened while `work` runs belong to this subscriber. */
  runAs<T>(subscriber: Subscriber, work: () => T): T
}

/**
 * Returns a function that sends a notification; while the client has not taken the message before, it only notes that
 * another is due. The library would queue each of them, and one says as much as a hundred.
 */
function notifyWhenTaken(send: () => void, taken: () => Promise<void>): () => void {
  /** The first message is the library's: it confirms the subscription. */
  let isUnderWay = true
  let isDue = false

  async function goOnWhenTaken(): Promise<void> {
    await taken()
    isUnderWay = false
    if (isDue) notify()
  }

  function notify(): void {
    isDue = isUnderWay
    if (isDue) return
    isUnderWay = true
    void goOnWhenTaken()
    send()
  }
  void goOnWhenTaken()
  return notify
}

export function makeMailboxBus(wakeups: Wakeups): MailboxBus {
  const owner = new AsyncLocalStorage<Subscriber>()
  const listeners = new Map<string, Set<() => void>>()
  const arrived: ServerEvent = { kind: 'resource_updated', uri: MAILBOX_URI }

  wakeups.watch((recipientIds) => {
    for (const id of recipientIds ?? [...listeners.keys()]) for (const notify of listeners.get(id) ?? []) notify()
  })

  return {
    runAs: (subscriber, work) => owner.run(subscriber, work),
    // Nothing else changes while a subscription is open: tools and prompts are part of the release.
    publish: () => {},
    subscribe(listener) {
      const subscriber = owner.getStore()
      if (subscriber === undefined) throw new Error('a subscription needs an owner')
      const { recipientId, taken } = subscriber
      const notify = notifyWhenTaken(() => listener(arrived), taken)
      const own = listeners.get(recipientId) ?? new Set()
      listeners.set(recipientId, own.add(notify))
      return () => {
        own.delete(notify)
        if (own.size === 0 && listeners.get(recipientId) === own) listeners.delete(recipientId)
      }
    },
  }
}
