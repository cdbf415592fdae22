// A plant with a few agents, made through the client, for the tests and for the screenshots.
import { createClient, DeadLetter, type Agent, type Client } from '@sensorium/client'
import { buildChannels, type PlantChannels } from './plant-channels.ts'
import { buildMemories, type PlantMemories } from './plant-memories.ts'

export interface Plant {
  admin: Client
  agents: { sensor: Agent; triage: Agent; dispatch: Agent; archive: Agent }
  channels: PlantChannels
  /** Keys of agents, to sign in with. */
  keys: { sensor: string; triage: string }
  /** Publishes one reading; resolves with its id. */
  publish(pump: number, celsius: number, more?: Record<string, unknown>): Promise<string>
  /** Makes Triage handle its deliveries; a reading that is too hot becomes a dead letter. */
  work(): Promise<void>
}

export interface PlantWithMemories extends Plant {
  memories: PlantMemories
}

const WORKING = [
  'send',
  'receive',
  'interests:read',
  'interests:write',
  'memory:read',
  'memory:write',
  'channel:read',
  'channel:write',
] as const

/** Handles everything that waits for an agent, once. */
async function workThrough(url: string, apiKey: string, handle: (celsius: number) => void): Promise<void> {
  const client = createClient({ url, apiKey })
  for (;;) {
    const { deliveries } = await client.deliveries.poll({ limit: 100 })
    if (deliveries.length === 0) return
    for (const { id, payload } of deliveries) {
      try {
        handle(((payload['data'] ?? {}) as { celsius?: number }).celsius ?? 0)
        await client.deliveries.ack([id])
      } catch (error) {
        await client.deliveries.nack([id], {
          dead_letter: error instanceof DeadLetter,
          reason: (error as Error).message,
        })
      }
    }
  }
}

export async function buildPlant(url: string, adminKey: string): Promise<Plant> {
  const admin = createClient({ url, apiKey: adminKey })
  const register = (name: string, description: string, mode: 'poll' | 'push' | 'sse' = 'poll'): Promise<Agent> =>
    admin.agents.register({ name, description, delivery_mode: mode, client_type: 'claude' })
  const sensor = await register('Sensor gateway', 'Publishes what the pumps measure', 'sse')
  const triage = await register('Triage', 'Decides what a reading means')
  const dispatch = await register('Dispatcher', 'Sends somebody out', 'push')
  const archive = await register('Archive', 'Was replaced by the memory')
  await admin.agents.update(dispatch.id, { delivery_endpoint: 'https://dispatch.example.com/deliveries' })
  await admin.agents.deactivate(archive.id)

  const key = async ({ id }: Agent): Promise<string> => (await admin.keys.mint(id, { scopes: [...WORKING] })).key
  const keys = { sensor: await key(sensor), triage: await key(triage) }
  await admin.keys.mint(dispatch.id, { scopes: ['receive', 'admin'] })
  // An agent creates its interests itself.
  const asTriage = createClient({ url, apiKey: keys.triage })
  const asDispatch = createClient({ url, apiKey: await key(dispatch) })
  await asTriage.interests.create(triage.id, {
    event_type: 'com.plant.pump.*',
    filter_expression: 'data.celsius > 80',
    priority: 5,
    enrichment_depth: 'light',
  })
  await asTriage.interests.create(triage.id, { event_type: 'com.plant.door.opened' })
  await asDispatch.interests.create(dispatch.id, { event_type: 'com.plant.advice.*', enrichment_depth: 'full' })

  const publisher = createClient({ url, apiKey: keys.sensor, events: { source: '/plant/north' } })
  let published = 0
  const publish: Plant['publish'] = async (pump, celsius, more = {}) => {
    const type = 'com.plant.pump.measured'
    const id = `reading-${++published}`
    const data = { pump, celsius, at: { hall: 'north', row: pump % 4 }, tags: ['scheduled', 'raw'] }
    await publisher.publish({ id, type, subject: `pump/${pump}`, data, ...more })
    return id
  }
  for (let i = 0; i < 24; i++) await publish(i % 9, 60 + ((i * 7) % 45))
  const work = (): Promise<void> =>
    workThrough(url, keys.triage, (celsius) => {
      if (celsius > 101) throw new DeadLetter(`no rule for ${celsius} degrees`)
    })
  await work()
  // A chain: the reading led to advice, the advice to a visit. Then readings that are not handled yet.
  const cause = await publish(7, 96)
  await publisher.publish({
    id: 'advice-1',
    type: 'com.plant.advice.given',
    causationid: cause,
    data: { do: 'Open the valve' },
  })
  await publisher.publish({
    id: 'visit-1',
    type: 'com.plant.visit.planned',
    causationid: 'advice-1',
    data: { at: '14:00' },
  })
  for (let i = 0; i < 5; i++) await publish(i, 88 + i)
  const channels = await buildChannels(admin, url, keys.triage, { triage, dispatch })
  return { admin, agents: { sensor, triage, dispatch, archive }, channels, keys, publish, work }
}

/** For tests of memories: there are sixty, and embedding them takes more CPU than all the rest. */
export async function buildPlantWithMemories(url: string, adminKey: string): Promise<PlantWithMemories> {
  const plant = await buildPlant(url, adminKey)
  return { ...plant, memories: await buildMemories(createClient({ url, apiKey: plant.keys.triage })) }
}
