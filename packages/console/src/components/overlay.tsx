// Dialogs and drawers, with a title and a close button.
import { useId, useLayoutEffect, type ReactNode } from 'react'
import { ActionButton } from './action-button.tsx'
import { CloseIcon } from './icons.tsx'
import { FORM, KEEPS_OPEN, useModal } from './modal.ts'

interface OverlayProps {
  title: string
  kind?: 'modal' | 'drawer'
  wide?: boolean
  /** True while the only response that contains a secret is on its way. Nothing closes the dialog then. */
  awaitsSecret?: boolean
  onClose(): void
  children: ReactNode
}

const FIELD = ':is(input:not([type="checkbox"]), textarea, select)'
/**
 * What gets the focus first: in a dialog the first field, or the first button other than the close button; in a drawer
 * the first field of its form. Without one it is the content, which the arrow keys scroll: the key that opened a drawer
 * may be held until it repeats, and must not press a button there.
 */
const FIRST = { modal: `.content ${FIELD}, .content button`, drawer: `${FORM} ${FIELD}` }

/** Render it only while it is to be open. */
export function Overlay({ title, kind = 'modal', wide = false, awaitsSecret, onClose, children }: OverlayProps) {
  const modal = useModal(onClose)
  const { ref } = modal
  const id = useId()
  useLayoutEffect(() => {
    const first = ref.current!.querySelector<HTMLElement>(FIRST[kind])
    ;(first ?? ref.current!.querySelector<HTMLElement>('.content')!).focus()
  }, [ref, kind])
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
      <div tabIndex={-1} className={awaitsSecret ? `content ${KEEPS_OPEN}` : 'content'}>
        {children}
      </div>
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
          <ActionButton kind={danger ? 'primary danger' : 'primary'} busy={busy || awaitsSecret} onClick={onConfirm}>
            {verb}
          </ActionButton>
        </div>
      </div>
    </Overlay>
  )
}
