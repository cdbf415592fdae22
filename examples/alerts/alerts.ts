// A sensor reports temperatures. A triage agent receives only the hot ones, recalls its memories, and remembers what it
// did, so that the next alarm arrives together with the lesson of the last.
//
// Run it against a service: node examples/alerts/alerts.ts http://localhost:8080 ak_live_…
import { createClient, type AgentCreate, type Client, type Delivery, type KeyMint, type Trace } from '@sensorium/client'

interface Measured {
  pump: number
  celsius: number
  status: 'normal' | 'overheated'
}

async function register(
  url: string,
  admin: Client,
  name: AgentCreate['name'],
  scopes: KeyMint['scopes'],
): Promise<{ id: string; client: Client }> {
  const { id } = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
  const { key } = await admin.keys.mint(id, { scopes })
  return { id, client: createClient({ url, apiKey: key, events: { source: '/plant/north' } }) }
}

export interface Handled {
  eventId: string
  celsius: number
  /** Titles of the memories that came with the delivery. */
  remembered: string[]
}

/** Takes one delivery out of the mailbox by hand; `client.worker` does the same in a loop. */
async function nextDelivery(client: Client): Promise<Delivery> {
  for (;;) {
    const { deliveries } = await client.deliveries.poll({ limit: 1, wait: 20 })
    if (deliveries[0]) return deliveries[0]
  }
}

async function handleNext(triage: Client): Promise<Handled> {
  const { id, event_id, payload } = await nextDelivery(triage)
  const { celsius } = payload.data as Measured
  await triage.memory.remember({
    type: 'episodic',
    title: `Pump 7 overheated at ${celsius} degrees`,
    content: 'Opening the coolant valve by hand brought the temperature down in four minutes.',
    confidence: 0.9,
    source_event_id: event_id,
  })
  await triage.deliveries.ack([id])
  return { eventId: event_id, celsius, remembered: (payload.enrichment?.memories ?? []).map(({ title }) => title) }
}

export async function alerts(
  url: string,
  adminKey: string,
): Promise<{ handled: Handled[]; receipts: Trace[]; found: string[] }> {
  const admin = createClient({ url, apiKey: adminKey })
  const sensor = await register(url, admin, 'Sensor', ['send'])
  const triage = await register(url, admin, 'Triage', ['receive', 'interests:write', 'memory:read', 'memory:write'])

  await triage.client.interests.create(triage.id, {
    event_type: 'com.plant.pump.*',
    filter_expression: 'data.celsius > 80 && data.pump == 7',
    priority: 5,
    enrichment_depth: 'light',
  })

  const sent: string[] = []
  const report = async (celsius: number): Promise<void> => {
    const data: Measured = { pump: 7, celsius, status: celsius > 80 ? 'overheated' : 'normal' }
    const event = await sensor.client.publish({ type: 'com.plant.pump.measured', subject: 'pump/7', data })
    sent.push(event.event_id)
  }

  // The search also loads the embedding model, which takes a second on the first use.
  await triage.client.memory.recall('pump')

  const handled: Handled[] = []
  await report(93)
  handled.push(await handleNext(triage.client))
  await report(41) // cool enough: nobody receives it
  await report(97)
  handled.push(await handleNext(triage.client))

  const receipts = await Promise.all(sent.map((id) => sensor.client.events.get(id)))
  const results = await triage.client.memory.recall('does the valve help against too much heat?')
  return { handled, receipts, found: results.map(({ memory }) => memory.title) }
}

if (import.meta.main) {
  const [url, adminKey] = process.argv.slice(2)
  if (!url || !adminKey) throw new Error('Usage: alerts.ts <address of the service> <org-admin key>')
  console.dir(await alerts(url, adminKey), { depth: 6 })
}
