// The memory that a process still holds after a garbage collection. The kernel's number alone also counts garbage that
// V8 has not collected yet, which differs by more than a hundred megabytes from one moment to the next.
import { readFileSync } from 'node:fs'

/** For NODE_OPTIONS of the process, which then prints where its inspector listens. */
export const INSPECTED = '--inspect=127.0.0.1:0'

export interface Inspected {
  pid: number
  printed(pattern: RegExp): Promise<RegExpExecArray>
}

/** Returns the resident memory in MB after a garbage collection. */
export async function heldMb({ pid, printed }: Inspected): Promise<number> {
  const [, url] = await printed(/Debugger listening on (ws:\S+)/)
  const inspector = new WebSocket(url!)
  await new Promise((resolve, reject) => {
    inspector.onmessage = resolve
    inspector.onerror = reject
    inspector.onopen = () => inspector.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
  })
  inspector.close()
  const [, kB] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Math.round(Number(kB) / 1024)
}
