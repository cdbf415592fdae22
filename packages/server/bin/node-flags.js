// What Node.js is started with to serve.

/** Measured with Node.js 24; another release may not know them, and would not start. */
const OF_MAJOR = '24'

export const NODE_FLAGS = [
  // Left alone, V8 gives what is new up to 130 MB. With 24 the service is as fast, and smaller by 30 to 50 MB under load.
  '--max-semi-space-size=8',
  // All of the heap is collected when it holds this much, and not at every 8 MB more of a small one: bodies count, and
  // twenty megabytes of them a second were two collections, each of which took both cores for 20 ms.
  '--initial-old-space-size=96',
  // One thread that collects and compiles beside the one that serves, instead of four. On two cores the four took both
  // from it: the 99th percentile of an event at 500 a second was 15 ms and is 10, and as many are published or more.
  '--v8-pool-size=1',
  // Code that is called often is compiled well after 1,000 calls instead of 3,000: a node that has run for two
  // seconds takes 1.9 ms for an event and not 2.4, and one that has run for long 5 % less of a core.
  '--invocation-count-for-turbofan=1000',
]

/**
 * Begins anew with the flags, as the same process: it is where a signal, a container or a supervisor expects it. Does
 * nothing where it has them, where another Node.js runs it or the system cannot, and in a worker, which has its line to
 * the primary and the flags of it.
 */
export function beginWithFlags() {
  const isDone = NODE_FLAGS.every((flag) => process.execArgv.includes(flag))
  const isOther = process.versions.node.split('.')[0] !== OF_MAJOR || process.platform === 'win32'
  if (isDone || isOther || process.send !== undefined || process.execve === undefined) return
  // What was asked for by hand comes last, and holds.
  const args = [process.execPath, ...NODE_FLAGS, ...process.execArgv, ...process.argv.slice(1)]
  process.execve(process.execPath, args, process.env)
}
