// Memories and their relationships as they are known so far. Each change gives a new one; the old one stays as it was.
import type { Memory, RelatedMemory, Relationship } from '@sensorium/client'

/** What can still be read when it is drawn. */
export const MOST_NODES = 500

export interface Node {
  memory: Memory
  /** Whether all of its relationships are there. Of the others only those that led to them. */
  isExpanded: boolean
}

export interface Network {
  nodes: ReadonlyMap<string, Node>
  edges: ReadonlyMap<string, Relationship>
  /** Memories that were met and are not shown, because there are too many. */
  leftOut: ReadonlySet<string>
}

export const EMPTY: Network = { nodes: new Map(), edges: new Map(), leftOut: new Set() }

export function withMemories(network: Network, memories: readonly Memory[]): Network {
  const nodes = new Map(network.nodes)
  const leftOut = new Set(network.leftOut)
  for (const memory of memories) {
    if (nodes.has(memory.id)) continue
    if (nodes.size < MOST_NODES) nodes.set(memory.id, { memory, isExpanded: false })
    else leftOut.add(memory.id)
  }
  return { ...network, nodes, leftOut }
}

/** Adds what a traversal reached. An edge is shown when both of its ends are. */
export function withRelated(network: Network, related: readonly RelatedMemory[]): Network {
  const grown = withMemories(
    network,
    related.map(({ memory }) => memory),
  )
  const edges = new Map(grown.edges)
  for (const { relationship } of related)
    if (grown.nodes.has(relationship.source_memory_id) && grown.nodes.has(relationship.target_memory_id))
      edges.set(relationship.id, relationship)
  return { ...grown, edges }
}

/** The same, of one memory and with nothing missing: a traversal of depth 1 in both directions. */
export function withExpanded(network: Network, id: string, related: readonly RelatedMemory[]): Network {
  const grown = withRelated(network, related)
  const node = grown.nodes.get(id)
  if (node === undefined) return grown
  return { ...grown, nodes: new Map(grown.nodes).set(id, { ...node, isExpanded: true }) }
}

/** The relationships of a memory that are known, the strongest first. */
export const edgesOf = ({ edges }: Network, id: string): Relationship[] =>
  [...edges.values()]
    .filter(({ source_memory_id, target_memory_id }) => source_memory_id === id || target_memory_id === id)
    .sort((a, b) => b.strength - a.strength)

/** How many relationships each memory has, of those that are known. */
export function degrees({ edges }: Network): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { source_memory_id, target_memory_id } of edges.values())
    for (const id of [source_memory_id, target_memory_id]) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
