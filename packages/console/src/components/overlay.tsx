// Dialogs and drawers, with a title and a close button.
import { useId, useLayoutEffect, type ReactNode } from 'react'
import { CloseIcon } from './icons.tsx'
import { useModal } from './modal.ts'

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
  const modal = useModal(onClose)
  const { ref } = modal
  const id = useId()
  useLayoutEffect(() => ref.current!.querySelector<HTMLElement>(FIRST)?.focus(), [ref])
  return (
    <dialog {...modal} className={wide ? `${kind} wide` : kind} aria-labelledby={id}>
      <header>
        <h2 id={id} dir="auto">
          {title}
        </h2>
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
