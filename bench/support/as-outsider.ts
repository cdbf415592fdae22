// Starts the process of somebody who in life has a machine of his own. It runs below everybody else: on Linux as
// SCHED_IDLE, which needs no privilege, so that whoever wakes up takes its core at once; elsewhere with the lowest
// priority. Where the bench itself was given a real-time class, which makes a measurement possible on a machine with
// other work, the ordinary class is below it already, and in SCHED_IDLE the other work would leave the attacker nothing.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'

const LOWEST = 19
/** In /proc/self/stat, counted behind the name of the command; 0 is the ordinary one. */
const POLICY_FIELD = 38

function isRealTime(): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY_FIELD] !== '0'
}

const hasPolicies = process.platform === 'linux' && spawnSync('chrt', ['-i', '0', 'true']).status === 0

/** What it writes to standard output can be read. */
export function startAsOutsider(file: string, args: readonly string[]): ChildProcess {
  const policy = hasPolicies ? ['chrt', isRealTime() ? '-o' : '-i', '0'] : []
  const [command, ...rest] = [...policy, process.execPath, file, ...args]
  const child = spawn(command!, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  if (!hasPolicies) os.setPriority(child.pid!, LOWEST)
  return child
}
