// The end of a form in an overlay: the buttons to cancel and to submit it.
import type { ReactNode } from 'react'

export function FormEnd({
  onCancel,
  disabled,
  children,
}: {
  onCancel(): void
  /** True while the form is being submitted, or something is missing. */
  disabled: boolean
  /** The text of the submit button. */
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
