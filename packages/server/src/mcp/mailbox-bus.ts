// Tells an open subscription that its own mailbox has something new, and nothing more: the caller reads what arrived
// with a tool or the resource, under its own scopes.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Wakeups } from '../delivery/wake.ts'
import { MAILBOX_URI } from './resources.ts'

export interface MailboxBus extends ServerEventBus {
  /** Subscriptions that are opened while `work` runs belong to this mailbox. */
  runAs<T>(recipientId: string, work: () => T): T
}

export function makeMailboxBus(wakeups: Wakeups): MailboxBus {
  const owner = new AsyncLocalStorage<string>()
  const listeners = new Map<string, Set<(event: ServerEvent) => void>>()
  const arrived: ServerEvent = { kind: 'resource_updated', uri: MAILBOX_URI }

  wakeups.watch((recipientIds) => {
    for (const id of recipientIds ?? [...listeners.keys()])
      for (const listener of listeners.get(id) ?? []) listener(arrived)
  })

  return {
    runAs: (recipientId, work) => owner.run(recipientId, work),
    // Nothing else changes while a subscription is open: tools and prompts are part of the release.
    publish: () => {},
    subscribe(listener) {
      const recipientId = owner.getStore()
      if (recipientId === undefined) throw new Error('a subscription needs an owner')
      const own = listeners.get(recipientId) ?? new Set()
      listeners.set(recipientId, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size === 0 && listeners.get(recipientId) === own) listeners.delete(recipientId)
      }
    },
  }
}
