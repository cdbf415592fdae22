// Loaded before the service: its idea of the time of day is off by what a file says.
import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.env['CLOCK_FILE']) {
  const now = Date.now
  let off = 0
  Date.now = () => now() + off
  setInterval(() => {
    off = Number(readFileSync(/** @type {string} */ (process.env['CLOCK_FILE']), 'utf8'))
  }, 50).unref()
}
