// How far long work has come, on standard error, so that standard output has the result alone. A terminal sees one line
// that moves, everything else a line for each whole per cent at most.
import { errorScreen, type Screen } from './screen.ts'

const WIDTH = 30

/** `[##########--------------------]  33%  120 of 360` */
export function bar(done: number, total: number, unit = ''): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.floor(share * WIDTH)
  const amount = `${done} of ${total}${unit && ` ${unit}`}`
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${String(Math.floor(share * 100)).padStart(3)}%  ${amount}`
}

export interface Progress {
  show(done: number, total: number): void
  /** Leaves the last state standing. */
  end(): void
}

export function progress(
  unit = '',
  on: Screen = errorScreen,
  write: (text: string) => void = (text) => void process.stderr.write(text),
): Progress {
  let shown = ''
  let percent = -1
  return {
    show(done, total) {
      const line = bar(done, total, unit)
      const now = total === 0 ? 100 : Math.floor((done / total) * 100)
      if (line === shown || (on.columns === null && now === percent)) return
      // What is left of a longer line before it is cleared.
      write(on.columns === null ? `${line}\n` : `\r${line}\u001b[K`)
      shown = line
      percent = now
    },
    end() {
      if (on.columns !== null && shown !== '') write('\n')
      shown = ''
    },
  }
}
