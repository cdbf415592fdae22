// A user with an empty configuration folder.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export interface Home {
  env: Record<string, string>
  /** Where profiles are kept. */
  file: string
  drop(): void
}

export function newHome(): Home {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-home-'))
  return {
    env: { HOME: folder, XDG_CONFIG_HOME: folder },
    file: path.join(folder, 'sensorium', 'config.json'),
    drop: () => rmSync(folder, { recursive: true, force: true }),
  }
}
