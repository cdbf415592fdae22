// Finds places for the nodes, a few steps in each frame: the policy of the page allows no worker made from a text, and
// five hundred nodes take a millisecond or two for a step.
import type Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

const STEPS_AT_ONCE = 4
const FRAME_MS = 8
/** More nodes take longer to find their places. */
const stepsFor = (nodes: number): number => 200 + Math.min(400, nodes)

function step(graph: Graph): void {
  forceAtlas2.assign(graph, {
    iterations: STEPS_AT_ONCE,
    getEdgeWeight: 'weight',
    settings: {
      barnesHutOptimize: graph.order > 150,
      strongGravityMode: true,
      gravity: 0.06,
      scalingRatio: 12,
      slowDown: 4,
      edgeWeightInfluence: 0.6,
    },
  })
}

/** Settles a graph until nothing much moves; returns how to stop. Where motion is unwelcome, only the end is shown. */
export function settle(graph: Graph, done: () => void): () => void {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const moved = isStill ? graph.copy() : graph
  const steps = stepsFor(graph.order)
  let taken = 0
  let frame = 0
  const go = (): void => {
    const until = performance.now() + FRAME_MS
    do {
      step(moved)
      taken += STEPS_AT_ONCE
    } while (taken < steps && performance.now() < until)
    if (taken < steps) {
      frame = requestAnimationFrame(go)
      return
    }
    if (isStill) graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...placeOf(moved, id) }))
    done()
  }
  frame = requestAnimationFrame(go)
  return () => cancelAnimationFrame(frame)
}

const placeOf = (graph: Graph, id: string): { x: number; y: number } => ({
  x: graph.getNodeAttribute(id, 'x') as number,
  y: graph.getNodeAttribute(id, 'y') as number,
})
