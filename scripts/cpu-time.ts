// How much CPU a process and those that it started have used. Preloaded into each test file's process, it writes that
// down when the process ends; wall time says little on a machine that does other things too.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isMainThread } from 'node:worker_threads'

/** The variable that names the folder it is written to. */
export const CPU_FOLDER = 'TEST_CPU_FOLDER'

/** Where the time of a test file is found. */
export const cpuFile = (folder: string, testFile: string): string =>
  path.join(folder, testFile.replaceAll(/[^\w.-]/g, '_'))

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

const folder = process.env[CPU_FOLDER]
if (folder !== undefined && isMainThread && process.argv[1]?.endsWith('.test.ts')) {
  const file = cpuFile(folder, process.argv[1])
  process.on('exit', () => writeFileSync(file, String(cpuSeconds())))
}
