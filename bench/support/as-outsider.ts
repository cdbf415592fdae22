// Starts a process that in reality would have a machine of its own. It runs below all others: on Linux as SCHED_IDLE,
// which needs no privilege, so that any process that wakes up takes its core at once; elsewhere with the lowest
// priority. If the bench itself runs in a real-time class, which makes it possible to measure on a machine with other
// work, the ordinary class is already below it, and in SCHED_IDLE the other work would leave the attacker nothing.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'

const LOWEST = 19
/** The scheduling policy in /proc/self/stat, counted after the command name; 0 is the ordinary policy. */
const POLICY_FIELD = 38

function isRealTime(): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY_FIELD] !== '0'
}

const hasPolicies = process.platform === 'linux' && spawnSync('chrt', ['-i', '0', 'true']).status === 0

/** Starts the process; its standard output can be read. It ends with the bench at the latest, also if that fails. */
export function startAsOutsider(file: string, args: readonly string[]): ChildProcess {
  const policy = hasPolicies ? ['chrt', isRealTime() ? '-o' : '-i', '0'] : []
  const [command, ...rest] = [...policy, process.execPath, file, ...args]
  const child = spawn(command!, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  if (!hasPolicies) os.setPriority(child.pid!, LOWEST)
  const kill = (): boolean => child.kill()
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return child
}
