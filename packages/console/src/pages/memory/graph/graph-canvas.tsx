// The drawing itself. It is loaded with the first graph, and the list beside it offers everything that is in it.
import { useEffect, useRef, useState } from 'react'
import type Sigma from 'sigma'
import { counted } from '../../../components/counted.ts'
import { colorOf, onThemeChange } from '../../../components/token-color.ts'
import type { RelationshipType } from '../relationship-types.ts'
import { draw, paletteFrom } from './drawing.ts'
import { makeDrawing, type Drawing } from './make-drawing.ts'
import type { Network } from './network.ts'

interface GraphCanvasProps {
  network: Network
  selected: string | undefined
  hidden: ReadonlySet<RelationshipType>
  /** A memory that was chosen in the list; the camera moves to it. */
  towards: string | undefined
  onChoose(id: string): void
}

export default function GraphCanvas({ network, selected, hidden, towards, onChoose }: GraphCanvasProps) {
  const place = useRef<HTMLDivElement>(null)
  const drawing = useRef<Drawing | null>(null)
  const latest = useRef({ network, onChoose })
  latest.current = { network, onChoose }
  const [isSettled, setSettled] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)

  useEffect(() => {
    const element = place.current!
    let made: Drawing
    try {
      made = makeDrawing(element)
    } catch {
      setFailure('This browser cannot draw the graph: it has no WebGL. The list has everything that is in it.')
      return undefined
    }
    drawing.current = made
    made.sigma.on('clickNode', ({ node }) => latest.current.onChoose(node))
    made.sigma.on('enterNode', () => element.classList.add('over-node'))
    made.sigma.on('leaveNode', () => element.classList.remove('over-node'))
    const stop = onThemeChange(() => {
      made.palette = paletteFrom((token) => colorOf(element, token))
      draw(made.graph, latest.current.network, made.palette, element.clientWidth)
    })
    return () => {
      stop()
      made.layout.stop()
      drawing.current = null
      made.sigma.kill()
    }
  }, [])
  useEffect(() => {
    const made = drawing.current
    // A change that adds or removes nothing leaves a running layout alone.
    if (made === null || !draw(made.graph, network, made.palette, place.current!.clientWidth)) return
    setSettled(false)
    made.layout.compute(made.graph, () => setSettled(true))
  }, [network])
  useEffect(() => {
    const made = drawing.current
    if (made === null) return
    made.selected = selected
    made.hidden = hidden
    made.sigma.refresh()
  }, [selected, hidden])
  useEffect(() => {
    if (towards !== undefined && isSettled) goTo(drawing.current?.sigma, towards)
  }, [towards, isSettled])

  if (failure !== null) return <p className="graph-stage quiet failure">{failure}</p>
  return (
    <div className="graph-stage">
      <div
        ref={place}
        className="graph-canvas"
        role="img"
        aria-label={`A drawing of ${counted(network.nodes.size, 'memory', 'memories')} and ${counted(network.edges.size, 'relationship')}; the list has the same`}
        data-settled={isSettled}
      />
      <Zoom sigma={() => drawing.current?.sigma} />
      <div className="graph-notes quiet small" aria-hidden="true">
        <span>
          <i className="dot expanded" /> all its relationships are shown
        </span>
        <span>
          <i className="dot" /> may have more than is shown
        </span>
        <span>wider is stronger</span>
      </div>
    </div>
  )
}

const calm = () => ({ duration: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 220 })

/** With more nodes than this, the camera zooms in on the chosen one; with fewer, it keeps its zoom. */
const CROWD = 100
const NEAR = 0.35

function goTo(sigma: Sigma | undefined, id: string): void {
  const place = sigma?.getNodeDisplayData(id)
  if (sigma === undefined || place === undefined) return
  const camera = sigma.getCamera()
  const ratio = sigma.getGraph().order > CROWD ? Math.min(camera.ratio, NEAR) : camera.ratio
  void camera.animate({ x: place.x, y: place.y, ratio }, calm())
}

function Zoom({ sigma }: { sigma(): Sigma | undefined }) {
  const camera = () => sigma()?.getCamera()
  return (
    <div className="graph-zoom">
      <button
        type="button"
        className="button icon"
        aria-label="Nearer"
        onClick={() => void camera()?.animatedZoom(calm())}
      >
        +
      </button>
      <button
        type="button"
        className="button icon"
        aria-label="Farther"
        onClick={() => void camera()?.animatedUnzoom(calm())}
      >
        −
      </button>
      <button type="button" className="button" onClick={() => void camera()?.animatedReset(calm())}>
        Fit
      </button>
    </div>
  )
}
