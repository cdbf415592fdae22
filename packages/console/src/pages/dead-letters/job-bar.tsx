// The planned action, with a button to undo it; then its progress.
import { useEffect, useRef } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { UNDO_SECONDS, type Job, type Jobs } from './use-job.ts'

const DOING = { replay: 'Replaying', discard: 'Discarding' }

const many = (count: number): string => (count === 1 ? 'one dead letter' : `${count.toLocaleString()} dead letters`)

export function JobBar({ job, jobs }: { job: Job; jobs: Jobs }) {
  const { verb, total, startsIn, done } = job
  const undo = useRef<HTMLButtonElement>(null)
  const waits = startsIn !== null
  useShortcut('u', 'Take it back', jobs.stop, waits)
  useEffect(() => undo.current?.focus(), [])
  const share = waits ? startsIn / UNDO_SECONDS : done / Math.max(1, total)
  return (
    <div className={verb === 'discard' ? 'job danger' : 'job'}>
      <div className="row wrap">
        <span className="grow" role="status">
          {waits ? `${DOING[verb]} ${many(total)} soon` : `${DOING[verb]} ${many(total)}`}
        </span>
        <span className="number quiet">
          {waits ? `in ${startsIn} s` : `${done.toLocaleString()} of ${total.toLocaleString()}`}
        </span>
        <button type="button" ref={undo} className="button" onClick={jobs.stop}>
          {waits ? 'Undo' : 'Stop'}
        </button>
        {waits ? (
          <button type="button" className="button" onClick={jobs.startNow}>
            Start now
          </button>
        ) : null}
      </div>
      <progress className="only-readers" max={total} value={done} aria-label="Done" />
      <span className="job-share" style={{ transform: `scaleX(${share})` }} />
    </div>
  )
}
