// The service and the command line as a person runs them: real processes, a real environment, everything they print.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../src/cli/run.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
export const COMMAND = fileURLToPath(new URL('../../bin/sensorium.js', import.meta.url))

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunningProcess {
  /** The address that the process printed. */
  url: string
  pid: number
  /** Standard output and error so far. */
  output(): string
  kill(signal: NodeJS.Signals): void
  /** Resolves when the output, so far or from now on, matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves once the process has ended and all output is read. */
  ended: Promise<Finished>
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Finished>
}

export const COMPILE_CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/sensorium', import.meta.url))

/** An environment without the variables of the user who runs the tests. */
const clean = (env: Record<string, string>): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: COMPILE_CACHE,
  // A test that kills a node must hit the process that it started.
  WORKERS: '1',
  ...env,
})

function watch(child: ChildProcess): Pick<RunningProcess, 'output' | 'printed' | 'ended'> {
  // A test that fails halfway must leave nothing running.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let stdout = ''
  let stderr = ''
  let both = ''
  const waiting = new Set<() => void>()
  const hear =
    (add: (text: string) => void) =>
    (chunk: Buffer): void => {
      add(chunk.toString())
      both += chunk.toString()
      for (const look of waiting) look()
    }
  child.stdout!.on(
    'data',
    hear((text) => (stdout += text)),
  )
  child.stderr!.on(
    'data',
    hear((text) => (stderr += text)),
  )
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return {
    output: () => both,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(both)
          if (!found) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
        void ended.then(({ code }) => {
          look()
          reject(new Error(`it ended with ${code} and never printed ${pattern}:\n${both}`))
        })
      }),
  }
}

/** `sensorium start` without the command line: node src/main.ts. Resolves when it listens. */
export const startProcess = (env: Record<string, string>): Promise<RunningProcess> => listening([MAIN], env)

/** `sensorium start` with the command of an installed package. */
export const startInstalled = (command: string, env: Record<string, string>): Promise<RunningProcess> =>
  listening([command, 'start'], env)

async function listening(args: readonly string[], env: Record<string, string>): Promise<RunningProcess> {
  const child = spawn(process.execPath, args, {
    env: clean({ HOST: '127.0.0.1', PORT: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const watched = watch(child)
  const [, url] = await watched.printed(/Sensorium listens on (\S+)/)
  return {
    ...watched,
    url: url!,
    pid: child.pid!,
    kill: (signal) => void child.kill(signal),
    stop() {
      child.kill('SIGTERM')
      return watched.ended
    },
  }
}

/** A service that is expected not to start. */
export function refusedStart(env: Record<string, string>): Promise<Finished> {
  const child = spawn(process.execPath, [MAIN], {
    env: clean({ HOST: '127.0.0.1', PORT: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return watch(child).ended
}

/** `sensorium …args` that runs until it is stopped. */
export function startSensorium(
  args: readonly string[],
  env: Record<string, string>,
): Pick<RunningProcess, 'output' | 'printed' | 'ended' | 'kill'> {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: clean(env), stdio: ['ignore', 'pipe', 'pipe'] })
  return { ...watch(child), kill: (signal) => void child.kill(signal) }
}

/** `sensorium …args` */
export function sensorium(
  args: readonly string[],
  env: Record<string, string>,
  node = process.execPath,
): Promise<Finished> {
  return watch(spawn(node, [COMMAND, ...args], { env: clean(env), stdio: ['ignore', 'pipe', 'pipe'] })).ended
}

/**
 * `sensorium …args` in this process, by the function that the process would call: output and effects are the same,
 * without half a second of CPU for the start.
 */
export async function command(args: readonly string[], env: Record<string, string>): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  const code = await runCommand(args, {
    env: clean(env),
    print: (line) => (stdout += `${line}\n`),
    warn: (line) => (stderr += `${line}\n`),
    serve: () => Promise.reject(new Error('a service needs a process')),
    interrupted: () => new AbortController().signal,
  })
  return { code, stdout, stderr }
}

/** Runs a script in bash, as pasted into a terminal. */
export function bash(script: string, env: Record<string, string> = {}): Promise<Finished> {
  return watch(spawn('bash', ['-c', script], { env: clean(env), stdio: ['ignore', 'pipe', 'pipe'] })).ended
}
