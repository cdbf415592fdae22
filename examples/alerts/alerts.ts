// A sensor reports temperatures. A triage agent hears only of the hot ones, looks at what it remembers, and remembers
// what it did, so that the next alarm arrives together with the lesson of the last.
//
// Run it against a service: node_modules/.bin/node examples/alerts/alerts.ts http://localhost:8080 ak_live_…
import { randomUUID } from 'node:crypto'

type Json = Record<string, any>
type Call = (method: string, path: string, body?: unknown) => Promise<Json>

/** Calls the service as whoever the API key belongs to. */
export async function connect(url: string, apiKey: string): Promise<Call> {
  const request = async (method: string, path: string, body: unknown, token: string | null): Promise<Json> => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        // The same key on a retry makes sure that the effect happens once.
        ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = response.status === 204 ? {} : ((await response.json()) as Json)
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer['error']?.message}`)
    return answer
  }
  const { access_token } = await request('POST', '/auth/token', { api_key: apiKey }, null)
  return (method, path, body) => request(method, path, body, access_token)
}

async function register(url: string, admin: Call, name: string, scopes: string[]): Promise<{ id: string; call: Call }> {
  const { id } = await admin('POST', '/agents', { name, delivery_mode: 'poll', client_type: 'other' })
  const { key } = await admin('POST', `/agents/${id}/keys`, { scopes })
  return { id, call: await connect(url, key) }
}

export interface Handled {
  eventId: string
  celsius: number
  /** Titles of what came with the delivery. */
  remembered: string[]
}

export async function alerts(
  url: string,
  adminKey: string,
): Promise<{ handled: Handled[]; receipts: Json[]; found: string[] }> {
  const admin = await connect(url, adminKey)
  const sensor = await register(url, admin, 'Sensor', ['send'])
  const triage = await register(url, admin, 'Triage', ['receive', 'interests:write', 'memory:read', 'memory:write'])

  await triage.call('POST', `/agents/${triage.id}/interests`, {
    event_type: 'com.plant.pump.*',
    filter_expression: 'data.celsius > 80 && data.pump == 7',
    priority: 5,
    enrichment_depth: 'light',
  })

  const report = (id: string, celsius: number): Promise<Json> =>
    sensor.call('POST', '/events', {
      specversion: '1.0',
      type: 'com.plant.pump.measured',
      source: '/plant/north',
      id,
      subject: 'pump/7',
      data: { pump: 7, celsius },
    })

  /** Waits for one delivery, handles it, acknowledges it. */
  async function handleNext(): Promise<Handled> {
    const { deliveries } = await triage.call('GET', '/delivery/poll?limit=1&wait=10')
    const [{ id, event_id, payload }] = deliveries
    const handled = {
      eventId: event_id,
      celsius: payload.data.celsius,
      remembered: (payload.enrichment?.memories ?? []).map(({ title }: Json) => title),
    }
    await triage.call('POST', '/memories', {
      type: 'episodic',
      scope: 'agent',
      title: `Pump 7 overheated at ${payload.data.celsius} degrees`,
      content: 'Opening the coolant valve by hand brought the temperature down in four minutes.',
      confidence: 0.9,
      source_event_id: event_id,
    })
    await triage.call('POST', '/delivery/ack', { delivery_ids: [id] })
    return handled
  }

  // The search also wakes the embedding model, which takes a second on the first use.
  await triage.call('POST', '/memories/search', { query: 'pump' })

  const run = randomUUID().slice(0, 8)
  const handled: Handled[] = []
  await report(`${run}-1`, 93)
  handled.push(await handleNext())
  await report(`${run}-2`, 41) // cool enough: nobody hears of it
  await report(`${run}-3`, 97)
  handled.push(await handleNext())

  const receipts = await Promise.all([1, 2, 3].map((n) => sensor.call('GET', `/events/${run}-${n}`)))
  const { results } = await triage.call('POST', '/memories/search', { query: 'what helps against too much heat?' })
  return { handled, receipts, found: results.map(({ memory }: Json) => memory.title) }
}

if (import.meta.main) {
  const [url, adminKey] = process.argv.slice(2)
  if (!url || !adminKey) throw new Error('Usage: alerts.ts <address of the service> <org-admin key>')
  console.dir(await alerts(url, adminKey), { depth: 6 })
}
