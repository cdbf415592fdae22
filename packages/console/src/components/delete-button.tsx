import { useLayoutEffect, useRef } from 'react'
import { TrashIcon } from './icons.tsx'

/** The delete button at the end of a line. Its label tells screen readers what it deletes. */
export function DeleteButton({ label, busy = false, onClick }: { label: string; busy?: boolean; onClick: () => void }) {
  const ref = useRef<HTMLButtonElement>(null)
  // The line goes with what is deleted, and the button with it. A browser would leave the focus nowhere.
  useLayoutEffect(() => {
    const button = ref.current!
    return () => {
      if (button === document.activeElement) button.closest('.panel')?.querySelector('h2')?.focus()
    }
  }, [])
  return (
    <button
      ref={ref}
      type="button"
      className="button bare icon slim"
      aria-label={label}
      aria-disabled={busy}
      onClick={busy ? undefined : onClick}
    >
      <TrashIcon />
    </button>
  )
}
