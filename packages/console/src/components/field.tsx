// A field of a form: label, control, hint, and the error that the service reported. The control is its only child.
import { SensoriumError } from '@sensorium/client'
import { cloneElement, useId, type ReactElement, type ReactNode } from 'react'

interface FieldProps {
  label: string
  hint?: ReactNode
  problem?: string | undefined
  children: ReactElement<{ id?: string; 'aria-invalid'?: boolean; 'aria-describedby'?: string }>
}

export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
    .filter((name) => name !== '')
    .join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(problem === undefined ? {} : { 'aria-invalid': true }),
        ...(described === '' ? {} : { 'aria-describedby': described }),
      })}
      {hint === undefined ? null : (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem === undefined ? null : (
        <span className="problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
    </div>
  )
}

/** Returns what the service reported about one field of the body, if the error is about that field. */
export function problemOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof SensoriumError)) return undefined
  const { field: named, expected } = error.details as { field?: string; expected?: string }
  if (named !== field && !named?.startsWith(`${field}[`) && !named?.startsWith(`${field}.`)) return undefined
  return expected === undefined ? error.message : `Expected ${expected}.`
}

/** Shows an error that belongs to none of these fields, above the buttons. */
export function FormProblem({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (!(error instanceof Error) || fields.some((field) => problemOf(error, field) !== undefined)) return null
  const requestId = error instanceof SensoriumError ? error.requestId : null
  return (
    <div className="failed" role="alert">
      <span>{error.message}</span>
      {requestId === null ? null : <code className="quiet small">{requestId}</code>}
    </div>
  )
}
