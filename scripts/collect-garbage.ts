// What a process still holds once its garbage is gone: the kernel's number alone also counts what V8 has not yet come
// round to collecting, which differs by more than a hundred megabytes from one moment to the next.
import { readFileSync } from 'node:fs'

/** For NODE_OPTIONS of the process. It prints where it listens. */
export const INSPECTED = '--inspect=127.0.0.1:0'

export interface Inspected {
  pid: number
  printed(pattern: RegExp): Promise<RegExpExecArray>
}

/** Resident memory in MB, after a collection. */
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
