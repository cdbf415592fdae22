// Channels of the plant: one for everybody, one for repairs.
import { createClient, type Agent, type Channel, type Client } from '@sensorium/client'

export interface PlantChannels {
  incidents: Channel
  repairs: Channel
}

export async function buildChannels(
  admin: Client,
  url: string,
  triageKey: string,
  { triage, dispatch }: { triage: Agent; dispatch: Agent },
): Promise<PlantChannels> {
  const incidents = await admin.channels.create({
    name: 'Incidents',
    type: 'open',
    description: 'What is broken right now',
  })
  const member = (id: string, role: 'member' | 'admin' = 'member') => ({
    participant_type: 'agent' as const,
    participant_id: id,
    role,
  })
  await admin.channels.addMember(incidents.id, member(triage.id, 'admin'))
  await admin.channels.addMember(incidents.id, member(dispatch.id))
  await admin.channels.createFeed(incidents.id, {
    event_type_glob: 'com.plant.alarm.*',
    filter_expression: 'data.level >= 3',
  })
  await admin.channels.createFeed(incidents.id, { event_type_glob: 'com.plant.power.lost' })
  const asTriage = createClient({ url, apiKey: triageKey })
  const repairs = await asTriage.channels.create({ name: 'Repairs', type: 'private' })
  await asTriage.channels.create({ name: 'Triage and dispatch', type: 'direct', description: 'Who goes where' })
  return { incidents, repairs }
}
