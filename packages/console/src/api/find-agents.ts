// Names of agents that are none of the newest. Those that are asked for at the same moment are found together.
import { SensoriumError, type Client } from '@sensorium/client'

export interface NamedAgent {
  id: string
  name: string
}

/** As many as the list of agents has on a page. */
const PAGE = 200
/** At most so many requests for all names that are asked for at once. */
const MOST_REQUESTS = 24

/** Returns one agent, or nothing if there is none with this id. */
async function getAgent(client: Client, id: string): Promise<NamedAgent[]> {
  try {
    return [await client.agents.get(id)]
  } catch (error) {
    if (error instanceof SensoriumError && error.status === 404) return []
    throw error
  }
}

/**
 * Returns those of these agents that it finds after the first page of the list, whose length is given: by reading the
 * rest of the list, or agent by agent if that takes fewer requests.
 */
export async function findAgents(client: Client, ids: ReadonlySet<string>, total: number): Promise<NamedAgent[]> {
  const pages = Math.min(MOST_REQUESTS, Math.ceil(total / PAGE) - 1)
  if (ids.size <= pages) return (await Promise.all([...ids].map((id) => getAgent(client, id)))).flat()
  const found = new Map<string, NamedAgent>()
  for (let page = 1; page <= pages && found.size < ids.size; page++) {
    const { agents } = await client.agents.list({ offset: page * PAGE, limit: PAGE })
    for (const agent of agents) if (ids.has(agent.id)) found.set(agent.id, agent)
  }
  return [...found.values()]
}

interface Batch {
  ids: Set<string>
  found: Promise<NamedAgent[]>
}

const batches = new WeakMap<Client, Batch>()

/** Returns one agent, or null if it was not found. */
export async function findAgent(client: Client, id: string, total: number): Promise<NamedAgent | null> {
  let batch = batches.get(client)
  if (batch === undefined) {
    const ids = new Set<string>()
    const collect = async (): Promise<NamedAgent[]> => {
      await new Promise((resolve) => setTimeout(resolve))
      batches.delete(client)
      return findAgents(client, ids, total)
    }
    batch = { ids, found: collect() }
    batches.set(client, batch)
  }
  batch.ids.add(id)
  const agent = (await batch.found).find((one) => one.id === id)
  return agent === undefined ? null : { id, name: agent.name }
}
