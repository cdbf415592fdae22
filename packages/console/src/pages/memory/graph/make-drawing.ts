// The configuration of sigma: how labels look, what is highlighted, what is not drawn.
import { MultiDirectedGraph } from 'graphology'
import Sigma from 'sigma'
import { EdgeArrowProgram } from 'sigma/rendering'
import type { NodeHoverDrawingFunction, NodeLabelDrawingFunction } from 'sigma/rendering'
import { colorOf } from '../../../components/token-color.ts'
import type { RelationshipType } from '../relationship-types.ts'
import { paletteFrom, type Palette } from './drawing.ts'
import { makeLayout, type Layout } from './settle.ts'

const BESIDE = 4
const PADDING = 6

/** Returns where a text begins: to the right of its node, or to the left if it would pass the edge of the drawing. */
function textAt(context: CanvasRenderingContext2D, x: number, size: number, text: string, gap: number): number {
  const { width } = context.measureText(text)
  const right = x + size + gap
  return right + width > context.canvas.clientWidth ? Math.max(0, x - size - gap - width) : right
}

interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

const meet = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/**
 * Draws labels with an outline in the background colour, so that they can be read over edges. A label that would
 * overlap another is left out; `taken` holds the boxes of the labels in this drawing.
 */
const labelIn =
  (palette: () => Palette, taken: Box[]): NodeLabelDrawingFunction =>
  (context, { x, y, size, label }, settings) => {
    if (!label) return
    const { ink, raised } = palette()
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`
    const left = textAt(context, x, size, label, BESIDE)
    const half = settings.labelSize / 2 + 2
    const box = { left, right: left + context.measureText(label).width, top: y - half, bottom: y + half }
    if (taken.some((other) => meet(other, box))) return
    taken.push(box)
    context.lineWidth = 3
    context.lineJoin = 'round'
    context.strokeStyle = raised
    context.strokeText(label, left, y + settings.labelSize / 3)
    context.fillStyle = ink
    context.fillText(label, left, y + settings.labelSize / 3)
  }

const hoverIn =
  (palette: () => Palette): NodeHoverDrawingFunction =>
  (context, { x, y, size, label }, settings) => {
    const { ink, raised, chosen } = palette()
    context.strokeStyle = chosen
    context.lineWidth = 1.5
    context.beginPath()
    context.arc(x, y, size + 2, 0, Math.PI * 2)
    context.stroke()
    if (!label) return
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`
    const left = textAt(context, x, size, label, BESIDE + PADDING)
    const height = settings.labelSize + 10
    context.fillStyle = raised
    context.beginPath()
    context.roundRect(left - PADDING, y - height / 2, context.measureText(label).width + 2 * PADDING, height, 5)
    context.fill()
    context.stroke()
    context.fillStyle = ink
    context.fillText(label, left, y + settings.labelSize / 3)
  }

export interface Drawing {
  graph: MultiDirectedGraph
  sigma: Sigma
  palette: Palette
  selected: string | undefined
  hidden: ReadonlySet<RelationshipType>
  /** Finds positions for nodes that were added. */
  layout: Layout
}

/** Highlights the chosen memory and the ones related to it. Relationships of a hidden type are not drawn. */
function reduceBy(drawing: Drawing): void {
  const { graph, sigma } = drawing
  const isNear = (id: string): boolean => {
    const { selected } = drawing
    return selected === undefined || !graph.hasNode(selected) || id === selected || graph.areNeighbors(id, selected)
  }
  sigma.setSetting('nodeReducer', (id, data) =>
    isNear(id)
      ? { ...data, highlighted: id === drawing.selected, forceLabel: drawing.selected !== undefined, zIndex: 1 }
      : { ...data, color: drawing.palette.dimmed, label: null, zIndex: 0 },
  )
  sigma.setSetting('edgeReducer', (id, data) => {
    if (drawing.hidden.has(data['kind'] as RelationshipType)) return { ...data, hidden: true }
    const { selected } = drawing
    if (selected === undefined || !graph.hasNode(selected) || graph.hasExtremity(id, selected)) return data
    return { ...data, color: drawing.palette.dimmed, size: 0.8 }
  })
}

export function makeDrawing(place: HTMLElement): Drawing {
  const graph = new MultiDirectedGraph()
  const palette = paletteFrom((token) => colorOf(place, token))
  const taken: Box[] = []
  let drawing: Drawing
  const sigma = new Sigma(graph, place, {
    allowInvalidContainer: true,
    defaultEdgeType: 'arrow',
    edgeProgramClasses: { arrow: EdgeArrowProgram },
    labelFont: 'ui-sans-serif, system-ui, sans-serif',
    labelSize: 12,
    labelDensity: 0.5,
    labelGridCellSize: 140,
    labelRenderedSizeThreshold: 5,
    defaultDrawNodeLabel: labelIn(() => drawing.palette, taken),
    defaultDrawNodeHover: hoverIn(() => drawing.palette),
    stagePadding: 56,
    zIndex: true,
    minEdgeThickness: 1.2,
    minCameraRatio: 0.05,
    maxCameraRatio: 4,
  })
  sigma.on('beforeRender', () => {
    taken.length = 0
  })
  drawing = { graph, sigma, palette, selected: undefined, hidden: new Set(), layout: makeLayout() }
  reduceBy(drawing)
  return drawing
}
