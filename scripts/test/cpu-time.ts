// How much CPU this process and those that it started have used: wall time says little on a machine that does other
// things too.
import { readFileSync } from 'node:fs'

/** Seconds, those of ended children included where the system has /proc. */
export function cpuSeconds(): number {
  try {
    // After the name, which may have spaces in it: state is field 3, then times in hundredths of a second from field 14.
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)!.split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}
