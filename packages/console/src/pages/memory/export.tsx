import { useState } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { counted } from '../../components/counted.ts'
import { Field } from '../../components/field.tsx'
import { KEEPS_OPEN } from '../../components/modal.ts'
import { Failed } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { dayOf } from './filters.ts'
import { useTask } from './use-running.ts'

interface Exported {
  lines: number
  characters: number
  isWhole: boolean
}

/** Progress is reported after this many lines: one report per line would be drawn more often than anybody sees. */
const REPORT_LINES = 200
/** Lines are joined into pieces of this many characters, which the browser may keep on disk. */
const PIECE_CHARACTERS = 1_000_000

function save(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Once the download has begun, it no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

const size = (characters: number): string =>
  characters > 1_000_000 ? `${(characters / 1_000_000).toFixed(1)} MB` : `${Math.ceil(characters / 1000)} kB`

export function ExportMemories() {
  const { client } = useSession()
  const [since, setSince] = useState('')
  const { progress, error, isRunning, start, stop } = useTask<Exported>(async (report, signal) => {
    const pieces: Blob[] = []
    let piece: string[] = []
    let inPiece = 0
    let [lines, characters] = [0, 0]
    const keep = (): void => {
      pieces.push(new Blob(piece))
      piece = []
      inPiece = 0
    }
    const from = dayOf(since)
    for await (const line of client.memory.exportLines(from === undefined ? {} : { since: from }, { signal })) {
      piece.push(line, '\n')
      inPiece += line.length
      lines++
      characters += line.length + 1
      if (inPiece > PIECE_CHARACTERS) keep()
      if (lines % REPORT_LINES === 0) report({ lines, characters, isWhole: false })
    }
    keep()
    const day = new Date().toISOString().slice(0, 10)
    save(new Blob(pieces, { type: 'application/x-ndjson' }), `memories-${day}.ndjson`)
    report({ lines, characters, isWhole: true })
  })
  return (
    <section className={isRunning ? `stack ${KEEPS_OPEN}` : 'stack'} aria-label="Export">
      <h3>Export</h3>
      <p className="quiet">
        Every memory that you see and the relationships between them, a line of JSON each. Another Sensorium can import
        the file.
      </p>
      <Field label="Changed since" hint="Left empty, all of them.">
        <input type="date" value={since} onChange={(event) => setSince(event.target.value)} />
      </Field>
      {error === null ? null : <Failed error={error} />}
      <div className="row">
        <ActionButton kind="primary" busy={isRunning} onClick={start}>
          Export to a file
        </ActionButton>
        {isRunning ? <ActionButton onClick={stop}>Stop</ActionButton> : null}
        <span className="quiet small number" role="status">
          {progress === null
            ? isRunning
              ? 'Reading…'
              : ''
            : `${counted(progress.lines, 'line')}, ${size(progress.characters)}${progress.isWhole ? ', saved' : ''}`}
        </span>
      </div>
    </section>
  )
}
