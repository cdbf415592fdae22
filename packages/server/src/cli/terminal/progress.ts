// Shows the progress of long work on standard error, so that standard output has only the result. On a terminal it is
// one line that is updated; elsewhere it is at most one line for each whole per cent.
import { errorScreen, type Screen } from './screen.ts'

const WIDTH = 30

/** Returns a bar such as `[##########--------------------]  33%  120 of 360`. */
function bar(done: number, total: number, unit = ''): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.floor(share * WIDTH)
  const amount = `${done} of ${total}${unit && ` ${unit}`}`
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${String(Math.floor(share * 100)).padStart(3)}%  ${amount}`
}

export interface Progress {
  show(done: number, total: number): void
  /** Ends the line and leaves the last state visible. */
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
      // The escape sequence clears what is left of a longer line before.
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
