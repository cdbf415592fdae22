// `sensorium <command>`, as a process.
import { Interrupted } from './command.ts'
import { runCommand } from './run.ts'

process.umask(0o077)

function interrupted(): AbortSignal {
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The second one ends the process at once.
    process.once(signal, () => ended.abort(new Interrupted('Interrupted.')))
  }
  return ended.signal
}

const exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (line) => console.log(line),
  warn: (line) => console.error(line),
  serve: () => import('../main.ts'),
  interrupted,
})
if (exitCode !== null) process.exitCode = exitCode
