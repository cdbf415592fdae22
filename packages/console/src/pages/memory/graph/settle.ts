// The layout of a graph, computed in a worker thread. If the user prefers reduced motion, only the result is shown.
import type Graph from 'graphology'
import type { LayoutResult, LayoutRequest } from './settle-worker.ts'

export interface Layout {
  /** Starts again with the graph as it is now. */
  compute(graph: Graph, done: () => void): void
  stop(): void
}

export function makeLayout(): Layout {
  // A file of its own: the page's content security policy allows no worker that is created from a string.
  const worker = new Worker(new URL('./settle-worker.ts', import.meta.url), { type: 'module' })
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  let round = 0
  return {
    compute(graph, done) {
      round++
      const ids = graph.nodes()
      const indexes = new Map(ids.map((id, index) => [id, index]))
      const places = new Float32Array(ids.length * 2)
      for (const [id, index] of indexes)
        places.set([graph.getNodeAttribute(id, 'x') as number, graph.getNodeAttribute(id, 'y') as number], 2 * index)
      const edges = graph.mapEdges(
        (_, { weight }, from, to) => [indexes.get(from)!, indexes.get(to)!, weight as number] as const,
      )
      worker.onmessage = ({ data }: MessageEvent<LayoutResult>) => {
        if (data.round !== round) return
        if (data.isDone || !isStill) show(graph, indexes, data.places)
        if (data.isDone) done()
      }
      const request: LayoutRequest = { round, places, edges }
      worker.postMessage(request, [places.buffer])
    },
    stop: () => worker.terminate(),
  }
}

function show(graph: Graph, indexes: ReadonlyMap<string, number>, places: Float32Array): void {
  graph.updateEachNodeAttributes(
    (id, attributes) => {
      const index = indexes.get(id)
      if (index !== undefined) Object.assign(attributes, { x: places[2 * index], y: places[2 * index + 1] })
      return attributes
    },
    { attributes: ['x', 'y'] },
  )
}
