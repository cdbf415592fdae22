import type { ImportedMemories } from '@sensorium/client'
import { useState } from 'react'
import { useRefresh } from '../../api/refresh.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { counted } from '../../components/counted.ts'
import { Field } from '../../components/field.tsx'
import { KEEPS_OPEN } from '../../components/modal.ts'
import { Failed } from '../../components/states.tsx'
import { Stat, Stats } from '../../components/stat.tsx'
import { useSession } from '../../session/session.ts'
import { showToast } from '../../shell/toast-store.ts'
import { linesOfFile } from './lines-of-file.ts'
import { useTask } from './use-running.ts'

interface Imported {
  lines: number
  /** The fraction of the file that was read, 0 to 1. */
  part: number
  result: ImportedMemories
  /** False until the end of the file. */
  isWhole: boolean
}

/** How many refused lines are shown; the rest are counted. */
const SHOWN_ERRORS = 50

export function ImportMemories() {
  const { client } = useSession()
  const refresh = useRefresh()
  const [file, setFile] = useState<File | null>(null)
  const { progress, error, isRunning, start, stop } = useTask<Imported>(async (report, signal) => {
    let bytes = 0
    let done = 0
    const lines = linesOfFile(file!, (read) => {
      bytes = read
    })
    try {
      const tell = (taken: number, soFar: ImportedMemories): void => {
        done = taken
        const part = file!.size === 0 ? 1 : bytes / file!.size
        report({ lines: taken, part, result: { ...soFar }, isWhole: false })
      }
      const result = await client.memory.import(lines, { signal, progress: tell })
      report({
        lines: result.created + result.updated + result.skipped + result.failed,
        part: 1,
        result,
        isWhole: true,
      })
    } finally {
      if (signal.aborted) showToast(`The import was stopped after ${counted(done, 'line')}`)
      // Lines imported before a stop or a failure are stored as well.
      void refresh(['listMemories', 'searchMemories', 'listRelationships'])
    }
  })
  return (
    <section className={isRunning ? `stack ${KEEPS_OPEN}` : 'stack'} aria-label="Import">
      <h3>Import</h3>
      <p className="quiet">
        A file as an export writes it. What is created belongs to you; the same file again is skipped, so an import that
        broke off can be run once more.
      </p>
      <Field label="File" hint="Newline-delimited JSON: a memory or a relationship on each line.">
        <input
          type="file"
          accept=".ndjson,.jsonl,.json,application/x-ndjson"
          disabled={isRunning}
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        />
      </Field>
      {error === null ? null : <Failed error={error} />}
      <div className="row">
        <ActionButton kind="primary" busy={file === null || isRunning} onClick={start}>
          Import the file
        </ActionButton>
        {isRunning ? <ActionButton onClick={stop}>Stop</ActionButton> : null}
        {isRunning || progress !== null ? (
          <progress aria-label="Of the file" max={1} value={progress?.part ?? 0} />
        ) : null}
      </div>
      {progress === null ? null : (
        <Outcome
          of={progress.result}
          says={isRunning ? 'Importing' : progress.isWhole ? 'Imported' : 'Imported in part'}
        />
      )}
    </section>
  )
}

function Outcome({ of, says }: { of: ImportedMemories; says: string }) {
  const { created, updated, skipped, failed, errors } = of
  return (
    <div className="stack" role="status" aria-label={says}>
      <Stats>
        <Stat label="Created" value={created.toLocaleString()} />
        <Stat label="Changed" value={updated.toLocaleString()} />
        <Stat label="Already there" value={skipped.toLocaleString()} />
        <Stat label="Refused" value={failed.toLocaleString()} tone={failed > 0 ? 'bad' : undefined} />
      </Stats>
      {errors.length === 0 ? null : (
        <ol className="memory-lines refused" aria-label="Lines that were refused">
          {errors.slice(0, SHOWN_ERRORS).map(({ line, error }) => (
            <li key={line} className="row">
              <span className="number quiet">line {line.toLocaleString()}</span>
              <span className="grow">{error.message}</span>
            </li>
          ))}
          {failed > SHOWN_ERRORS ? (
            <li className="row quiet">and {failed - Math.min(SHOWN_ERRORS, errors.length)} more</li>
          ) : null}
        </ol>
      )}
    </div>
  )
}
