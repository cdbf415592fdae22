#!/usr/bin/env node
// The command. On a Node.js that is too old it hands over to the one that is pinned beside it, or says what is needed.
import { spawn } from 'node:child_process'
import module from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import '../src/kernel/no-sqlite-warning.js'
import { restartWithFlags } from './node-flags.js'
import { isNewEnough, OLDEST, pinnedNode } from './pinned-node.js'

if (isNewEnough(process.versions.node)) {
  if (process.argv[2] === 'start') restartWithFlags()
  // Without the cache, compiling takes two thirds of a command's half second. It lies beside the code, where only the
  // owner writes.
  module.enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/sensorium', import.meta.url)))
  await import('../src/cli/main.ts')
} else {
  const pinned = pinnedNode()
  if (pinned === null) {
    console.error(
      `sensorium needs Node.js ${OLDEST} or newer, best 24, and this is ${process.versions.node}. https://nodejs.org has it.`,
    )
    process.exit(1)
  }
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      // Ctrl-C in a terminal reaches the child by itself; a second signal would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('error', (error) => {
    console.error(`sensorium could not run ${pinned}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
