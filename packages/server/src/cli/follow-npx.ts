// `npx sensorium start` runs the command in a shell. If that is dash, as on Debian and Ubuntu, the shell dies of the
// signal that npx forwards and does not pass it on: the service would keep running, and nothing would stop it.
// `npm start` avoids this with `exec`; npx has no place for it.
const LOOK_EVERY_MS = 500

/**
 * Calls `ended` once the parent process is gone. Does nothing unless npx started this process: any other parent may
 * exit for reasons of its own.
 */
export function followNpx(env: NodeJS.ProcessEnv, ended: () => void): void {
  if (env['npm_lifecycle_event'] !== 'npx') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    ended()
  }, LOOK_EVERY_MS)
  timer.unref()
}
