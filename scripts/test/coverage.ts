// The coverage of our own sources, added up over the processes that run test files.
import path from 'node:path'

interface Measured {
  path: string
  lines: readonly { line: number; count: number }[]
}

export interface Coverage {
  add(files: readonly Measured[]): void
  /** Returns a line for each source folder, and the total last. */
  table(root: string): string
}

export function makeCoverage(): Coverage {
  const counts = new Map<string, Map<number, number>>()
  const share = (covered: number, all: number): string =>
    `${((100 * covered) / Math.max(1, all)).toFixed(1)} %`.padStart(8)

  return {
    add(files) {
      for (const file of files) {
        const lines = counts.get(file.path) ?? new Map<number, number>()
        counts.set(file.path, lines)
        for (const { line, count } of file.lines) lines.set(line, (lines.get(line) ?? 0) + count)
      }
    },
    table(root) {
      const folders = new Map<string, { covered: number; all: number }>()
      for (const [file, lines] of counts) {
        const folder = path.dirname(path.relative(root, file))
        for (const name of [folder, 'all']) {
          const sum = folders.get(name) ?? { covered: 0, all: 0 }
          folders.set(name, sum)
          sum.all += lines.size
          for (const count of lines.values()) if (count > 0) sum.covered++
        }
      }
      return [...folders]
        .sort(([a], [b]) => (a === 'all' ? 1 : b === 'all' ? -1 : a < b ? -1 : 1))
        .map(([name, { covered, all }]) => `${share(covered, all)}  ${name}  (${covered} of ${all} lines)`)
        .join('\n')
    },
  }
}
