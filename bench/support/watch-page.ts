// What a page costs its browser: frames, the time of the main thread for each, and memory after a garbage collection.
import type { CDPSession, Page } from 'playwright-core'
import { quantile } from './load.ts'

/** Runs in the page. The work of a frame ends when a message sent at its start is read, after styles, layout, paint. */
const METER = `globalThis.meter = { starts: [], works: [], misses: 0, on: false, check: null }
{
  const { port1, port2 } = new MessageChannel()
  let begun = 0
  port1.onmessage = () => { if (meter.on) meter.works.push(performance.now() - begun) }
  const frame = (at) => {
    begun = at
    if (meter.on) {
      meter.starts.push(at)
      if (meter.check !== null && !meter.check()) meter.misses++
    }
    port2.postMessage(null)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}
null`

export interface Frames {
  count: number
  perSecond: number
  /** Milliseconds of the main thread for one frame, from the start of the frame. */
  workP50: number
  workP99: number
  /** The longest time between two frames. */
  worstGap: number
  /** The number of frames in which the check of the page failed. */
  misses: number
}

export interface PageWatch {
  /** Counts frames while `what` runs; `check` is an expression that should be true in each of them. */
  during(what: () => Promise<unknown>, check?: string): Promise<Frames>
  /** Returns the megabytes that scripts use and the nodes of the document, after a garbage collection. */
  memory(): Promise<{ heapMb: number; nodes: number; listeners: number }>
}

export async function watchPage(page: Page): Promise<PageWatch> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  await page.evaluate(METER)
  return {
    async during(what, check) {
      await page.evaluate(
        `Object.assign(meter, { starts: [], works: [], misses: 0, on: true, check: ${check === undefined ? 'null' : `() => ${check}`} }); null`,
      )
      await what()
      const { starts, works, misses } = await page.evaluate<{ starts: number[]; works: number[]; misses: number }>(
        'meter.on = false; ({ starts: meter.starts, works: meter.works, misses: meter.misses })',
      )
      const gaps = starts.slice(1).map((at, i) => at - starts[i]!)
      const sorted = works.sort((a, b) => a - b)
      return {
        count: starts.length,
        perSecond: ((starts.length - 1) * 1000) / (starts.at(-1)! - starts[0]!),
        workP50: quantile(sorted, 0.5),
        workP99: quantile(sorted, 0.99),
        worstGap: Math.max(...gaps),
        misses,
      }
    },
    async memory() {
      // Twice: the second collection frees what the first one finalised.
      for (let i = 0; i < 2; i++) await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      const valueIn = (name: string): number => metrics.find((metric) => metric.name === name)!.value
      return {
        heapMb: valueIn('JSHeapUsedSize') / 1e6,
        nodes: valueIn('Nodes'),
        listeners: valueIn('JSEventListeners'),
      }
    },
  }
}
