// Finds positions for the nodes, off the main thread: five hundred nodes take seconds, which would block the page.
import Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

/** The graph as numbers: a node is its index in `places`, an edge is two nodes and a weight. */
export interface LayoutRequest {
  round: number
  /** x and y of each node. */
  places: Float32Array
  edges: readonly (readonly [from: number, to: number, weight: number])[]
}

export interface LayoutResult {
  round: number
  places: Float32Array
  isDone: boolean
}

const STEPS_AT_ONCE = 4
const SHOWN_EACH_MS = 200
/** More nodes take longer to find their places. */
const stepsFor = (nodes: number): number => 120 + Math.min(240, nodes)

let latest = 0

function toGraph({ places, edges }: LayoutRequest): Graph {
  const graph = new Graph({ type: 'undirected', multi: true })
  for (let node = 0; node < places.length / 2; node++)
    graph.addNode(node, { x: places[2 * node], y: places[2 * node + 1] })
  for (const [from, to, weight] of edges) graph.addEdge(from, to, { weight })
  return graph
}

function postResult(graph: Graph, round: number, isDone: boolean): void {
  const places = new Float32Array(graph.order * 2)
  graph.forEachNode((id, { x, y }) => places.set([x as number, y as number], 2 * Number(id)))
  const result: LayoutResult = { round, places, isDone }
  self.postMessage(result, { transfer: [places.buffer] })
}

async function computeLayout(request: LayoutRequest): Promise<void> {
  const graph = toGraph(request)
  const settings = {
    barnesHutOptimize: graph.order > 150,
    strongGravityMode: true,
    gravity: 0.06,
    scalingRatio: 12,
    slowDown: 3,
    edgeWeightInfluence: 0.6,
  }
  let shownAt = performance.now()
  for (let taken = 0; taken < stepsFor(graph.order); taken += STEPS_AT_ONCE) {
    forceAtlas2.assign(graph, { iterations: STEPS_AT_ONCE, getEdgeWeight: 'weight', settings })
    if (performance.now() - shownAt < SHOWN_EACH_MS) continue
    shownAt = performance.now()
    postResult(graph, request.round, false)
    // Lets the message with a newer graph arrive.
    await new Promise((resolve) => setTimeout(resolve))
    if (latest !== request.round) return
  }
  postResult(graph, request.round, true)
}

self.addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  latest = data.round
  void computeLayout(data)
})
