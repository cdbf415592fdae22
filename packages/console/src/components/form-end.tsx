// The end of a form in an overlay: the buttons to cancel and to submit it.
import type { ReactNode } from 'react'
import { ActionButton } from './action-button.tsx'

export function FormEnd({
  onCancel,
  busy = false,
  awaitsSecret = false,
  children,
}: {
  onCancel(): void
  /** True while the form is being submitted, or something is missing. */
  busy?: boolean
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
      <ActionButton type="submit" kind="primary" busy={busy || awaitsSecret}>
        {children}
      </ActionButton>
    </div>
  )
}
