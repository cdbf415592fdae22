// The memories and relationships known so far. A network is immutable: each change returns a new one.
import type { Memory, RelatedMemory, Relationship } from '@sensorium/client'
import { MOST_RELATED } from '../most-related.ts'

/** The most nodes that are still readable when drawn. */
export const MOST_NODES = 500

interface Node {
  memory: Memory
  /** Whether its relationships were fetched. A node that is not expanded has only those that led to it. */
  isExpanded: boolean
  /**
   * Whether all of its relationships are shown. An expanded node has more if some lead to memories that are left out,
   * or if there are more than the service returns at once.
   */
  isWhole: boolean
}

export interface Network {
  nodes: ReadonlyMap<string, Node>
  edges: ReadonlyMap<string, Relationship>
  /** Memories that were reached and are not shown, because there are too many. */
  leftOut: ReadonlySet<string>
  /** Whether a response had as many relationships as the service returns at once, so that there may be more. */
  isCut: boolean
}

export const EMPTY: Network = { nodes: new Map(), edges: new Map(), leftOut: new Set(), isCut: false }

export function withMemories(network: Network, memories: readonly Memory[]): Network {
  const nodes = new Map(network.nodes)
  const leftOut = new Set(network.leftOut)
  for (const memory of memories) {
    if (nodes.has(memory.id)) continue
    if (nodes.size < MOST_NODES) nodes.set(memory.id, { memory, isExpanded: false, isWhole: false })
    else leftOut.add(memory.id)
  }
  return { ...network, nodes, leftOut }
}

/** Adds the memories that a traversal reached. An edge is shown when both of its ends are. */
export function withRelated(network: Network, related: readonly RelatedMemory[]): Network {
  const grown = withMemories(
    network,
    related.map(({ memory }) => memory),
  )
  const edges = new Map(grown.edges)
  for (const { relationship } of related)
    if (grown.nodes.has(relationship.source_memory_id) && grown.nodes.has(relationship.target_memory_id))
      edges.set(relationship.id, relationship)
  return { ...grown, edges, isCut: grown.isCut || related.length >= MOST_RELATED }
}

/** The same for all relationships of one memory: the result of a traversal of depth 1 in both directions. */
export function withExpanded(network: Network, id: string, related: readonly RelatedMemory[]): Network {
  const grown = withRelated(network, related)
  const node = grown.nodes.get(id)
  if (node === undefined) return grown
  const isWhole = related.length < MOST_RELATED && related.every(({ relationship }) => grown.edges.has(relationship.id))
  return { ...grown, nodes: new Map(grown.nodes).set(id, { ...node, isExpanded: true, isWhole }) }
}

/** Returns the known relationships of a memory, strongest first. */
export const edgesOf = ({ edges }: Network, id: string): Relationship[] =>
  [...edges.values()]
    .filter(({ source_memory_id, target_memory_id }) => source_memory_id === id || target_memory_id === id)
    .sort((a, b) => b.strength - a.strength)

/** Returns the number of known relationships of each memory. */
export function degrees({ edges }: Network): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { source_memory_id, target_memory_id } of edges.values())
    for (const id of [source_memory_id, target_memory_id]) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
