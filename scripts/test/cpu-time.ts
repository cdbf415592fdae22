// The CPU time used by this process and its children: wall time says little on a machine that does other work too.
import { readFileSync } from 'node:fs'

/** Returns seconds, including those of ended children if the system has /proc. */
export function cpuSeconds(): number {
  try {
    // The name may contain spaces. After it, state is field 3, and times in hundredths of a second begin at field 14.
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)!.split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}
