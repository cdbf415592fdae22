// Dialogs and drawers: the browser's own <dialog>, which keeps the focus inside, closes on Escape and then returns the
// focus.
import { useEffect, useId, useRef, type ReactNode } from 'react'
import { CloseIcon } from './icons.tsx'

interface OverlayProps {
  title: string
  kind?: 'modal' | 'drawer'
  wide?: boolean
  onClose(): void
  children: ReactNode
}

/** What gets the focus first: the first field, or the first button other than the close button. */
const FIRST = '.content :is(input:not([type="checkbox"]), textarea, select), .content button'

/** Render it only while it is to be open. */
export function Overlay({ title, kind = 'modal', wide = false, onClose, children }: OverlayProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current!
    if (!dialog.open) dialog.showModal()
    dialog.querySelector<HTMLElement>(FIRST)?.focus()
    return () => dialog.close()
  }, [])
  return (
    <dialog
      ref={ref}
      className={wide ? `${kind} wide` : kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="button bare icon" aria-label="Close" onClick={onClose}>
          <CloseIcon />
        </button>
      </header>
      <div className="content">{children}</div>
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  verb: string
  danger?: boolean
  busy?: boolean
  onConfirm(): void
  onClose(): void
  children: ReactNode
}

export function Confirm({ title, verb, danger = false, busy = false, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Overlay title={title} onClose={onClose}>
      <div className="stack wide">
        <div className="quiet">{children}</div>
        <div className="form-end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className={danger ? 'button primary danger' : 'button primary'}
            disabled={busy}
            onClick={onConfirm}
          >
            {verb}
          </button>
        </div>
      </div>
    </Overlay>
  )
}
