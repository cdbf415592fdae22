// Dialogs and drawers, with a title and a close button.
import { useId, useLayoutEffect, type ReactNode } from 'react'
import { CloseIcon } from './icons.tsx'
import { KEEPS_OPEN, useModal } from './modal.ts'

interface OverlayProps {
  title: string
  kind?: 'modal' | 'drawer'
  wide?: boolean
  /** True while the only response that contains a secret is on its way. Nothing closes the dialog then. */
  awaitsSecret?: boolean
  onClose(): void
  children: ReactNode
}

/** What gets the focus first: the first field, or the first button other than the close button. */
const FIRST = '.content :is(input:not([type="checkbox"]), textarea, select), .content button'

/** Render it only while it is to be open. */
export function Overlay({ title, kind = 'modal', wide = false, awaitsSecret, onClose, children }: OverlayProps) {
  const modal = useModal(onClose)
  const { ref } = modal
  const id = useId()
  useLayoutEffect(() => ref.current!.querySelector<HTMLElement>(FIRST)?.focus(), [ref])
  return (
    <dialog {...modal} className={wide ? `${kind} wide` : kind} aria-labelledby={id}>
      <header>
        <h2 id={id} dir="auto" title={title}>
          {title}
        </h2>
        <button type="button" className="button bare icon" aria-label="Close" disabled={awaitsSecret} onClick={onClose}>
          <CloseIcon />
        </button>
      </header>
      <div className={awaitsSecret ? `content ${KEEPS_OPEN}` : 'content'}>{children}</div>
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  verb: string
  danger?: boolean
  busy?: boolean
  awaitsSecret?: boolean
  onConfirm(): void
  onClose(): void
  children: ReactNode
}

export function Confirm(props: ConfirmProps) {
  const { title, verb, danger = false, busy = false, awaitsSecret = false, onConfirm, onClose, children } = props
  return (
    <Overlay title={title} awaitsSecret={awaitsSecret} onClose={onClose}>
      <div className="stack wide">
        <div className="quiet">{children}</div>
        <div className="form-end">
          <button type="button" className="button" disabled={awaitsSecret} onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className={danger ? 'button primary danger' : 'button primary'}
            disabled={busy || awaitsSecret}
            onClick={onConfirm}
          >
            {verb}
          </button>
        </div>
      </div>
    </Overlay>
  )
}
