// The graph as it grows: it starts with one memory and those near it, or with the memories of a filter. Expanding a
// memory adds all of its relationships.
import type { Client, RelatedMemory } from '@sensorium/client'
import { useEffect, useRef, useState } from 'react'
import { useFailureHandler, useSession } from '../../../session/session.ts'
import { showFailure } from '../../../shell/toast-store.ts'
import { listQuery, searchBody, type Filters } from '../filters.ts'
import { EMPTY, MOST_NODES, withExpanded, withMemories, withRelated, type Network } from './network.ts'

/** How many memories of a filter to start with: each takes a request, so few enough to wait for. */
const SEEDS = 60
/** How many requests run at a time. */
const ABREAST = 4
/** Responses within this time are drawn together: drawing a large graph once takes as long as several responses. */
const DRAWN_EACH_MS = 400
/** How far the graph of one memory reaches at the start. */
const DEPTH = 2

async function begin(client: Client, of: string | undefined, filters: Filters, signal: AbortSignal): Promise<Network> {
  if (of !== undefined) {
    const [memory, related] = await Promise.all([
      client.memory.get(of, { signal }),
      client.memory.explore(of, { depth: DEPTH, direction: 'both' }, { signal }),
    ])
    return withRelated(withMemories(EMPTY, [memory]), related)
  }
  const query = filters.q?.trim() ?? ''
  if (query === '') {
    const { status: _, ...wanted } = listQuery(filters)
    return withMemories(EMPTY, (await client.memory.list({ ...wanted, limit: SEEDS }, { signal })).memories)
  }
  const found = await client.memory.recall(searchBody(query, filters), { signal })
  return withMemories(
    EMPTY,
    found.map(({ memory }) => memory),
  )
}

interface Growing {
  network: Network
  error: Error | null
  isPending: boolean
  /** Memories whose relationships are being fetched. */
  waiting: ReadonlySet<string>
  expand(ids: readonly string[]): void
}

export function useNetwork(of: string | undefined, filters: Filters): Growing {
  const { client } = useSession()
  const failed = useFailureHandler()
  const [network, setNetwork] = useState(EMPTY)
  const [error, setError] = useState<Error | null>(null)
  const [isPending, setPending] = useState(true)
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(new Set())
  const leaving = useRef(new AbortController())
  const key = JSON.stringify([of, filters])

  async function expand(ids: readonly string[]): Promise<void> {
    const { signal } = leaving.current
    const queue = [...ids]
    let arrived: { from: string; related: RelatedMemory[] }[] = []
    let drawnAt = performance.now()
    const drawArrived = (): void => {
      const together = arrived
      arrived = []
      drawnAt = performance.now()
      setNetwork((old) => together.reduce((grown, { from, related }) => withExpanded(grown, from, related), old))
    }
    setWaiting((old) => new Set([...old, ...ids]))
    const work = async (): Promise<void> => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        const from = id
        try {
          const related = await client.memory.explore(from, { depth: 1, direction: 'both' }, { signal })
          arrived.push({ from, related })
          if (performance.now() - drawnAt > DRAWN_EACH_MS) drawArrived()
        } catch (failure) {
          if (signal.aborted) return
          queue.length = 0
          showFailure(failure)
          failed(failure)
        }
      }
    }
    await Promise.all(Array.from({ length: ABREAST }, work))
    if (signal.aborted) return
    drawArrived()
    setWaiting((old) => new Set([...old].filter((id) => !ids.includes(id))))
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: starts again only for another address
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    setPending(true)
    setError(null)
    setWaiting(new Set())
    begin(client, of, filters, controller.signal).then(
      (begun) => {
        setNetwork(begun)
        setPending(false)
        const first = of === undefined ? [...begun.nodes.keys()] : [of]
        void expand(first.slice(0, SEEDS))
      },
      (failure: Error) => {
        if (controller.signal.aborted) return
        setError(failure)
        setPending(false)
        failed(failure)
      },
    )
    return () => controller.abort()
  }, [key, client])

  return {
    network,
    error,
    isPending,
    waiting,
    expand: (ids) => {
      const wanted = ids.filter((id) => network.nodes.get(id)?.isExpanded === false && !waiting.has(id))
      if (wanted.length > 0) void expand(wanted.slice(0, MOST_NODES))
    },
  }
}
