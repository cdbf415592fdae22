import { useLayoutEffect, useRef, type MouseEvent, type ReactNode } from 'react'
import { placeAround } from './place-around.ts'

interface ActionButtonProps {
  /** The one that submits its form needs no `onClick`. */
  type?: 'button' | 'submit'
  /** A second style, such as `primary` or `slim`. */
  kind?: string
  label?: string
  /** While the action runs, or something is missing for it, a press does nothing. */
  busy?: boolean
  onClick?(): void
  children: ReactNode
}

/**
 * A button that acts where it is. It is never disabled: a browser takes the focus from a button that is, and whoever
 * uses the keyboard would have to find the place again after each action.
 */
export function ActionButton(props: ActionButtonProps) {
  const { type = 'button', kind = '', label, busy = false, onClick, children } = props
  const ref = useRef<HTMLButtonElement>(null)
  // It may go with what it has acted on, such as the line that it deletes.
  useLayoutEffect(() => {
    const button = ref.current!
    return () => {
      // Without scrolling there: the user looks at where the button was.
      if (button === document.activeElement) placeAround(button)?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <button
      ref={ref}
      type={type}
      className={`button ${kind}`}
      aria-label={label}
      aria-disabled={busy}
      // Enter in a field of its form presses it too.
      onClick={busy ? (event: MouseEvent) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  )
}
