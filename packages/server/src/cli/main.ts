// The process of `sensorium <command>`.
import { Interrupted } from './command.ts'
import { followNpx } from './follow-npx.ts'
import { runCommand } from './run.ts'
import { writeLine } from './terminal/write-line.ts'

process.umask(0o077)
// Each write reports its own error; without a listener, the `error` event would also end the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const ended = new AbortController()

function interrupted(): AbortSignal {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Listens once: a second signal ends the process at once.
    process.once(signal, () => {
      const reason = new Interrupted('Interrupted.')
      ended.abort(reason)
      // A command may be waiting for standard input.
      process.stdin.on('error', () => {}).destroy(reason)
    })
  }
  return ended.signal
}

const exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (line) => writeLine(process.stdout, line),
  warn: (line) => console.error(line),
  serve() {
    followNpx(process.env, () => process.kill(process.pid, 'SIGTERM'))
    return import('../main.ts')
  },
  interrupted,
})
if (exitCode !== null) process.exitCode = exitCode
// Calls share the exchange of the key, so none of them aborts it. With a service that never responds, it would keep the
// process for minutes. The empty write is done once all that was written before is.
if (ended.signal.aborted) process.stderr.write('', () => process.exit())
