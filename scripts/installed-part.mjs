// Which part of the dependencies a command needs, and whether it is there.

/**
 * @param {{ command: string | undefined, stamp: string, lock: string, hasDevelopment: boolean }} found `command` is the
 * script of package.json that asks; the stamp of the last installation is the hash of its lock file, with ` run` behind
 * it where only what running needs was installed.
 * @returns {{ part: 'run' | 'all', isThere: boolean }}
 */
export function partToInstall({ command, stamp, lock, hasDevelopment }) {
  // A start takes nothing away from who develops, whether the set-up or a plain `npm ci` brought it.
  const part = command === 'prestart' && !hasDevelopment ? 'run' : 'all'
  return { part, isThere: stamp === lock || (part === 'run' && stamp === stampOf(lock, 'run')) }
}

/** @param {string} lock @param {'run' | 'all'} part */
export const stampOf = (lock, part) => (part === 'run' ? `${lock} run` : lock)
