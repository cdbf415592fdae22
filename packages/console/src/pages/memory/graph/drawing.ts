// The network as sigma draws it. A new node starts beside one it is related to, so that the others can stay in place.
import type { MultiDirectedGraph } from 'graphology'
import { RELATIONSHIP_TYPES, type RelationshipType } from '../relationship-types.ts'
import { degrees, type Network } from './network.ts'

export interface Palette {
  expanded: string
  folded: string
  dimmed: string
  chosen: string
  types: Record<RelationshipType, string>
  ink: string
  raised: string
}

const TITLE_CHARACTERS = 30
/** Points placed at multiples of this angle never line up behind each other. */
const GOLDEN_ANGLE = 2.399963

const short = (title: string): string =>
  title.length > TITLE_CHARACTERS ? `${title.slice(0, TITLE_CHARACTERS - 1).trimEnd()}…` : title

/** Important memories and those with many relationships are larger. */
const sizeOf = (importance: number, degree: number): number => 3 + importance * 3 + Math.min(7, Math.sqrt(degree) * 1.6)
/** Square pixels per node at which nodes have their full size. With less room for each, they are smaller. */
const ROOM = 4_200
const crowdOf = (nodes: number, width: number): number =>
  Math.max(0.45, Math.min(1, Math.sqrt((width * width) / (Math.max(1, nodes) * ROOM))))
const widthOf = (strength: number): number => 0.8 + strength * 3.2

function placeBeside(graph: MultiDirectedGraph, near: string | undefined): { x: number; y: number } {
  const angle = graph.order * GOLDEN_ANGLE
  if (near === undefined) {
    const distance = 12 * Math.sqrt(graph.order)
    return { x: Math.cos(angle) * distance, y: Math.sin(angle) * distance }
  }
  const x = graph.getNodeAttribute(near, 'x') as number
  const y = graph.getNodeAttribute(near, 'y') as number
  return { x: x + Math.cos(angle) * 6, y: y + Math.sin(angle) * 6 }
}

/** Updates the graph from the network, for a drawing of this width. Returns whether nodes or edges came or went. */
export function draw(graph: MultiDirectedGraph, network: Network, palette: Palette, width: number): boolean {
  let changed = false
  for (const id of graph.nodes())
    if (!network.nodes.has(id)) {
      graph.dropNode(id)
      changed = true
    }
  const counts = degrees(network)
  const crowd = crowdOf(network.nodes.size, width)
  const neighbours = new Map<string, string>()
  for (const { source_memory_id: from, target_memory_id: to } of network.edges.values()) {
    if (graph.hasNode(from)) neighbours.set(to, from)
    if (graph.hasNode(to)) neighbours.set(from, to)
  }
  for (const [id, { memory, isWhole }] of network.nodes) {
    const look = {
      label: short(memory.title),
      size: crowd * sizeOf(memory.importance, counts.get(id) ?? 0),
      color: isWhole ? palette.expanded : palette.folded,
    }
    if (graph.hasNode(id)) graph.mergeNodeAttributes(id, look)
    else {
      graph.addNode(id, { ...placeBeside(graph, neighbours.get(id)), ...look })
      changed = true
    }
  }
  for (const id of graph.edges())
    if (!network.edges.has(id)) {
      graph.dropEdge(id)
      changed = true
    }
  for (const [id, { source_memory_id, target_memory_id, relationship_type, strength }] of network.edges) {
    const look = { size: crowd * widthOf(strength), color: palette.types[relationship_type], weight: 0.2 + strength }
    if (graph.hasEdge(id)) graph.mergeEdgeAttributes(id, look)
    else {
      graph.addEdgeWithKey(id, source_memory_id, target_memory_id, { ...look, kind: relationship_type })
      changed = true
    }
  }
  return changed
}

export const paletteFrom = (colorOf: (token: string) => string): Palette => ({
  expanded: colorOf('--ink'),
  folded: colorOf('--faint'),
  dimmed: colorOf('--line-strong'),
  chosen: colorOf('--accent'),
  ink: colorOf('--ink'),
  raised: colorOf('--raised'),
  types: Object.fromEntries(
    Object.entries(RELATIONSHIP_TYPES).map(([type, { color }]) => [type, colorOf(color)]),
  ) as Palette['types'],
})
