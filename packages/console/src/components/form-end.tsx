// The end of a form in an overlay: leave it, or do what it is for.
import type { ReactNode } from 'react'

export function FormEnd({
  onCancel,
  disabled,
  children,
}: {
  onCancel(): void
  /** While it is being done, or something is missing. */
  disabled: boolean
  /** What it does, on the button. */
  children: ReactNode
}) {
  return (
    <div className="form-end">
      <button type="button" className="button" onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" className="button primary" disabled={disabled}>
        {children}
      </button>
    </div>
  )
}
