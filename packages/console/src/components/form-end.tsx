// The end of a form in an overlay: the buttons to cancel and to submit it.
import type { ReactNode } from 'react'

export function FormEnd({
  onCancel,
  disabled = false,
  awaitsSecret = false,
  children,
}: {
  onCancel(): void
  /** True while the form is being submitted, or something is missing. */
  disabled?: boolean
  /** As in Overlay: true while the only response that contains a secret is on its way. */
  awaitsSecret?: boolean
  /** The text of the submit button. */
  children: ReactNode
}) {
  return (
    <div className="form-end">
      <button type="button" className="button" disabled={awaitsSecret} onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" className="button primary" disabled={disabled || awaitsSecret}>
        {children}
      </button>
    </div>
  )
}
