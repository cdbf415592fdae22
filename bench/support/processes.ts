// The resources that a process and its children have used.
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_A_SECOND = 100

/** Returns the ids of the process and all its descendants. */
export function tree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(tree)]
}

/** Returns the seconds of processor time of all of them, including children that have ended. */
export const cpuOf = (pid: number): number =>
  tree(pid).reduce((sum, one) => {
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return sum + fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) / TICKS_A_SECOND
  }, 0)

/** Returns the resident memory of all of them in MB. */
export const mbOf = (pid: number): number =>
  tree(pid).reduce(
    (sum, one) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    0,
  )
