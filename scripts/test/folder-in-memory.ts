// A folder in memory for everything that a run writes. On a disk, making, writing and deleting the files of hundreds of
// stores takes a tenth of a run's CPU, and each commit waits for the disk. No test cuts the machine's power: a store
// that outlives a killed process does so here too.
import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const MEMORY = '/dev/shm'
const NAME = 'sensorium-run-'
/** A run has 3 GB in it at most. */
const ROOM_BYTES = 6 * 2 ** 30
/** The processes of a run take as much again. */
const MEMORY_BYTES = 10 * 2 ** 30

/**
 * Makes the folder the one for temporary files, if this machine has one with enough room in which programs can run.
 * Returns a function that removes it.
 */
export function useFolderInMemory(): () => void {
  const folder = makeFolder()
  if (folder === null) return () => {}
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

function makeFolder(): string | null {
  try {
    accessSync(MEMORY)
    removeLeftOvers()
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ROOM_BYTES || process.availableMemory() < MEMORY_BYTES) return null
    const folder = mkdtempSync(path.join(MEMORY, `${NAME}${process.pid}-`))
    // PostgreSQL runs under another account, and has a folder of its own in it.
    chmodSync(folder, 0o711)
    if (canRunPrograms(folder)) return folder
    rmSync(folder, { recursive: true })
  } catch {
    // It is only faster.
  }
  return null
}

/** What a run that was killed has left would take memory until the next start of the machine. */
function removeLeftOvers(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(NAME) ? Number.parseInt(name.slice(NAME.length), 10) : 0
    if (pid > 0 && !isRunning(pid)) rmSync(path.join(MEMORY, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Containers often mount it without. */
function canRunPrograms(folder: string): boolean {
  const program = path.join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  return spawnSync(program).status === 0
}
