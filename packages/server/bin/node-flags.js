// The flags that Node.js is started with to serve.

/** Measured with Node.js 24. Another release may not know the flags, and would not start. */
const OF_MAJOR = '24'

export const NODE_FLAGS = [
  // By default V8 gives new objects up to 130 MB. With 24 MB the service is as fast, and 30 to 50 MB smaller under
  // load.
  '--max-semi-space-size=8',
  // The whole heap is collected when it holds this much, instead of at every 8 MB that a small one grows. Bodies count:
  // at twenty megabytes of them a second there were two collections, each of which took both cores for 20 ms.
  '--initial-old-space-size=96',
  // One thread that collects and compiles beside the main thread, instead of four. On two cores the four took both from
  // it: the 99th percentile of an event at 500 a second was 15 ms and is now 10, and as many are published or more.
  '--v8-pool-size=1',
  // A function that is called often is optimised after 1,000 calls instead of 3,000: a node that has run for two
  // seconds takes 1.9 ms for an event instead of 2.4, and one that has run for long takes 5 % less of a core.
  '--invocation-count-for-turbofan=1000',
  // Otherwise anybody who may signal the process opens a debugger in it with SIGUSR1, for every user of the machine,
  // and a thread waits for that.
  '--disable-sigusr1',
]

/**
 * Restarts with the flags as the same process, so that signals, a container or a supervisor still find it. Does nothing
 * if it has the flags, if another release of Node.js runs it or the system cannot, and in a worker, which has a channel
 * to the primary and its flags.
 */
export function restartWithFlags() {
  const isDone = NODE_FLAGS.every((flag) => process.execArgv.includes(flag))
  const isOther = process.versions.node.split('.')[0] !== OF_MAJOR || process.platform === 'win32'
  if (isDone || isOther || process.send !== undefined || process.execve === undefined) return
  // Flags that were given by hand come last, and win.
  const args = [process.execPath, ...NODE_FLAGS, ...process.execArgv, ...process.argv.slice(1)]
  process.execve(process.execPath, args, process.env)
}
