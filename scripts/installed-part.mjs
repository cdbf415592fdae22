// Decides which part of the dependencies a command needs, and whether it is installed.

/**
 * @param {{ command: string | undefined, stamp: string, lock: string, hasDevelopment: boolean }} found `command` is the
 * script of package.json that is running; the stamp of the last installation is the hash of its lock file, followed by
 * ` run` if only the dependencies for running the service were installed.
 * @returns {{ part: 'run' | 'all', isThere: boolean }}
 */
export function partToInstall({ command, stamp, lock, hasDevelopment }) {
  // A start never removes development dependencies, whether the set-up or a plain `npm ci` installed them.
  const part = command === 'prestart' && !hasDevelopment ? 'run' : 'all'
  return { part, isThere: stamp === lock || (part === 'run' && stamp === stampOf(lock, 'run')) }
}

/** @param {string} lock @param {'run' | 'all'} part */
export const stampOf = (lock, part) => (part === 'run' ? `${lock} run` : lock)
