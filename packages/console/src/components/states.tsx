// The empty, failed and loading states of a page.
import { ConnectionError, SensoriumError } from '@sensorium/client'
import type { ReactNode } from 'react'
import { CopyButton, Snippet } from './copy.tsx'

interface EmptyProps {
  title: string
  children?: ReactNode
  /** A command that creates the first item. */
  command?: string
  action?: ReactNode
}

/** Shown when there is nothing yet: says what would be here, and how to create it. */
export function Empty({ title, children, command, action }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children === undefined ? null : <p className="quiet">{children}</p>}
      {action}
      {command === undefined ? null : <Snippet text={command} />}
    </div>
  )
}

interface FailedProps {
  error: Error
  retry?: (() => void) | undefined
  /** One line, for a failure above what is still shown. */
  slim?: boolean
}

export function Failed({ error, retry, slim = false }: FailedProps) {
  const requestId = error instanceof SensoriumError ? error.requestId : null
  return (
    <div className={slim ? 'failed slim' : 'failed'} role="alert">
      <strong>{error instanceof ConnectionError ? 'The service does not answer' : error.message}</strong>
      {error instanceof ConnectionError ? <span className="quiet">{error.message}</span> : null}
      <div className="row wrap">
        {requestId === null ? null : (
          <span className="copyable small">
            Request <code>{requestId}</code>
            <CopyButton text={requestId} label="Copy the request id" />
          </span>
        )}
        {retry === undefined ? null : (
          <button type="button" className="button slim" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  )
}

export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div className="stack" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a placeholder are all alike
        <span key={line} className="skeleton" style={{ width: `${90 - ((line * 23) % 50)}%` }} />
      ))}
    </div>
  )
}

interface QueryResultProps<T> {
  of: { data: T | undefined; error: Error | null; isPending: boolean; refetch?: () => unknown }
  lines?: number
  children: (data: T) => ReactNode
}

/** Returns the data of a response, unless the service has said since that it is gone. The cache still has it then. */
export function presentData<T>({ data, error }: { data: T | undefined; error: Error | null }): T | undefined {
  return error instanceof SensoriumError && error.status === 404 ? undefined : data
}

/** Marks data that stays although its refresh failed. A service that does not respond has its own banner. */
export function RefreshFailed({ error, retry }: { error: Error | null; retry?: (() => void) | undefined }) {
  if (error === null || error instanceof ConnectionError) return null
  return <Failed error={error} retry={retry} slim />
}

/**
 * Shows one response: loading, failed, or rendered by `children`. Data from before a failure stays below the error,
 * unless it is gone.
 */
export function QueryResult<T>({ of, lines, children }: QueryResultProps<T>) {
  const { error, refetch } = of
  const data = presentData(of)
  const retry = refetch === undefined ? undefined : () => void refetch()
  if (data !== undefined)
    return (
      <>
        <RefreshFailed error={error} retry={retry} />
        {children(data)}
      </>
    )
  if (error !== null) return <Failed error={error} retry={retry} />
  return <Loading {...(lines === undefined ? {} : { lines })} />
}
