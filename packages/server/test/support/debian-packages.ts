// Programs that tests need and npm does not carry: as root on Debian one command installs them.
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import path from 'node:path'

// The services of the packages must not start: dpkg asks policy-rc.d. A machine without package lists fetches them.
const INSTALL = `
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy"
  fi
  apt() { apt-get -o DPkg::Lock::Timeout=240 "$@"; }
  apt install -y --no-install-recommends "$@" || { apt update; apt install -y --no-install-recommends "$@"; }
`

/**
 * Installs what is missing, or does nothing where that is not possible. Several test files may ask at the same time,
 * and apt-get fails while another one runs, so each waits for the lock of the one before.
 */
export function installPackages(...names: string[]): void {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).error) return
  spawnSync('flock', [path.join(tmpdir(), 'sensorium-apt.lock'), 'sh', '-c', INSTALL, 'sh', ...names], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  })
}
