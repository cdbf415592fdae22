// A support team of three agents. Intake classifies tickets, Billing handles those about money, and Lead receives
// everything urgent through a channel. What Billing learns is promoted to the team, so that Intake knows it too.
//
// Run it against a service: node examples/support-triage/support-triage.ts http://localhost:8080 ak_live_…
import { createClient, type Client } from '@sensorium/client'

const TEAM = 'support'

interface Ticket {
  text: string
}
interface Classified extends Ticket {
  topic: 'billing' | 'other'
  urgent: boolean
}

async function hire(url: string, admin: Client, name: string): Promise<{ id: string; client: Client }> {
  const { id } = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other', team_id: TEAM })
  const { key } = await admin.keys.mint(id, {
    scopes: ['send', 'receive', 'interests:write', 'memory:read', 'memory:write', 'channel:read', 'channel:write'],
  })
  return { id, client: createClient({ url, apiKey: key }) }
}

/** Stands in for a language model: with a real one, nothing else changes. */
const classify = ({ text }: Ticket): Classified => ({
  text,
  topic: /refund|invoice|charged/i.test(text) ? 'billing' : 'other',
  urgent: /twice|urgent/i.test(text),
})

export interface Outcome {
  /** The texts that Billing handled. */
  billed: string[]
  /** The texts that reached Lead through the channel. */
  escalated: string[]
  /** A memory that Intake finds although Billing wrote it. */
  shared: string | undefined
}

export async function supportTriage(url: string, adminKey: string): Promise<Outcome> {
  const admin = createClient({ url, apiKey: adminKey })
  const intake = await hire(url, admin, 'Intake')
  const billing = await hire(url, admin, 'Billing')
  const lead = await hire(url, admin, 'Lead')

  await intake.client.interests.create(intake.id, { event_type: 'com.support.ticket.opened' })
  await billing.client.interests.create(billing.id, {
    event_type: 'com.support.ticket.classified',
    filter_expression: 'data.topic == "billing"',
  })
  const channel = await lead.client.channels.create({ name: 'Escalations', type: 'private' })
  await lead.client.channels.createFeed(channel.id, {
    event_type_glob: 'com.support.ticket.classified',
    filter_expression: 'data.urgent',
  })

  const billed: string[] = []
  const escalated: string[] = []
  const finished = Promise.withResolvers<void>()
  const check = (): void => {
    if (billed.length === 2 && escalated.length === 1) finished.resolve()
  }

  const workers = [
    intake.client.worker<Ticket>({
      async handle({ event, client }) {
        await client.publish({
          type: 'com.support.ticket.classified',
          subject: event.subject,
          data: classify(event.data),
        })
      },
    }),
    billing.client.worker<Classified>({
      async handle({ event, client }) {
        const memory = await client.memory.remember({
          title: 'Double charges are refunded at once',
          content: `Decided when a customer wrote: ${event.data.text}`,
        })
        if (event.data.urgent) await client.memory.promote(memory.id, 'team', TEAM)
        billed.push(event.data.text)
        check()
      },
    }),
    lead.client.worker<Classified>({
      async handle({ event }) {
        escalated.push(event.data.text)
        check()
      },
    }),
  ]

  const tickets = ['I was charged twice for one order', 'Where is my invoice?', 'How do I change my name?']
  for (const [i, text] of tickets.entries())
    await intake.client.publish({ type: 'com.support.ticket.opened', subject: `ticket/${i + 1}`, data: { text } })
  await finished.promise
  await Promise.all(workers.map((worker) => worker.stop()))

  const [found] = await intake.client.memory.recall('a customer paid two times, what do we do?')
  return { billed: billed.sort(), escalated, shared: found?.memory.title }
}

if (import.meta.main) {
  const [url, adminKey] = process.argv.slice(2)
  if (!url || !adminKey) throw new Error('Usage: support-triage.ts <address of the service> <org-admin key>')
  console.dir(await supportTriage(url, adminKey))
}
