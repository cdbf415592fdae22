// Finds places for the nodes, a few steps in each frame: the policy of the page allows no worker made from a text.
// It works on a copy and shows where it is now and then, because drawing five hundred nodes costs more than moving them.
import type Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

const STEPS_AT_ONCE = 4
/** Of a frame's 16 ms; the rest is for whoever uses the page. */
const FRAME_MS = 10
const SHOWN_EACH_MS = 200
/** More nodes take longer to find their places. */
const stepsFor = (nodes: number): number => 120 + Math.min(240, nodes)

function step(graph: Graph): void {
  forceAtlas2.assign(graph, {
    iterations: STEPS_AT_ONCE,
    getEdgeWeight: 'weight',
    settings: {
      barnesHutOptimize: graph.order > 150,
      strongGravityMode: true,
      gravity: 0.06,
      scalingRatio: 12,
      slowDown: 3,
      edgeWeightInfluence: 0.6,
    },
  })
}

/** Settles a graph until nothing much moves; returns how to stop. Where motion is unwelcome, only the end is shown. */
export function settle(graph: Graph, done: () => void): () => void {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const moved = graph.copy()
  const steps = stepsFor(graph.order)
  let taken = 0
  let shownAt = performance.now()
  let frame = 0
  const show = (): void => {
    graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...placeOf(moved, id) }), {
      attributes: ['x', 'y'],
    })
    shownAt = performance.now()
  }
  const go = (): void => {
    const until = performance.now() + FRAME_MS
    do {
      step(moved)
      taken += STEPS_AT_ONCE
    } while (taken < steps && performance.now() < until)
    if (taken >= steps) {
      show()
      done()
      return
    }
    if (!isStill && performance.now() - shownAt > SHOWN_EACH_MS) show()
    frame = requestAnimationFrame(go)
  }
  frame = requestAnimationFrame(go)
  return () => cancelAnimationFrame(frame)
}

const placeOf = (graph: Graph, id: string): { x: number; y: number } => ({
  x: graph.getNodeAttribute(id, 'x') as number,
  y: graph.getNodeAttribute(id, 'y') as number,
})
