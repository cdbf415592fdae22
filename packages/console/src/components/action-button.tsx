import type { ReactNode } from 'react'

interface ActionButtonProps {
  /** A second style, such as `primary` or `slim`. */
  kind?: string
  label?: string
  /** While the action runs, a press does nothing. */
  busy?: boolean
  onClick(): void
  children: ReactNode
}

/**
 * A button that acts where it is. It is never disabled: a browser takes the focus from a button that is, and whoever
 * uses the keyboard would have to find the place again after each action.
 */
export function ActionButton({ kind = '', label, busy = false, onClick, children }: ActionButtonProps) {
  return (
    <button
      type="button"
      className={`button ${kind}`}
      aria-label={label}
      aria-disabled={busy}
      onClick={busy ? undefined : onClick}
    >
      {children}
    </button>
  )
}
