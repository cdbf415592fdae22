// `npx sensorium start` runs the command in a shell. Where that is dash, as on Debian and Ubuntu, it dies of the signal
// that npx passes on and tells nobody: the service would go on without anybody who could end it. `npm start` has `exec`
// for that, npx has no such place.
const LOOK_EVERY_MS = 500

/** Calls `ended` once the process that started this one is gone. Where npx did not start it, it may go for any reason. */
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
