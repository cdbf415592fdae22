// What every <dialog> of the console does, whatever it looks like: the browser keeps the focus inside, Escape, Back or
// a click beside it closes it, and then what had the focus before gets it back.
import { useBlocker } from '@tanstack/react-router'
import { useLayoutEffect, useRef, useSyncExternalStore, type PointerEvent, type SyntheticEvent } from 'react'
import { isOpenIn } from './in-address.ts'
import { placeAround } from './place-around.ts'

/**
 * Marks what is lost when it is closed, such as a secret or a running task. A dialog that contains it is closed by its
 * buttons alone. So is one with a form in which something was changed.
 */
export const KEEPS_OPEN = 'keeps-open'
/** A form that something may be lost in. One with `data-scratch` is only for trying something out. */
export const FORM = 'form:not([data-scratch])'

let open = 0
const listeners = new Set<() => void>()

function countOpen(change: 1 | -1): void {
  open += change
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether a dialog is open. What its form was opened from must not go meanwhile, and the form with it. */
export const useDialogIsOpen = (): boolean => useSyncExternalStore(subscribe, () => open > 0)

/** Returns the attributes of a <dialog> that is rendered only while it is to be open. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  /** Whether the pointer went down and up on the backdrop, which is the dialog itself and none of its content. */
  const isBeside = useRef(false)
  /** Whether the user changed a field of a form. What was typed into the palette is no loss. */
  const isChanged = useRef(false)
  // A layout effect ends before the dialog is removed. Closing a dialog that was removed returns no focus.
  useLayoutEffect(() => {
    const dialog = ref.current!
    const place = placeAround(document.activeElement)
    if (!dialog.open) dialog.showModal()
    countOpen(1)
    return () => {
      dialog.close()
      countOpen(-1)
      // The line that opened it may be gone.
      const { activeElement: left } = document
      if (left === document.body || dialog.contains(left)) place?.focus({ preventScroll: true })
    }
  }, [])
  /** Asked of a dialog that was just removed too, by a step in the history that began before. */
  const isKept = (): boolean =>
    Boolean(ref.current?.querySelector(isChanged.current ? `.${KEEPS_OPEN}, ${FORM}` : `.${KEEPS_OPEN}`))
  // Back and Forward of the browser, which are a gesture on a phone. What the buttons of the dialog lead to is a new
  // entry or takes the place of this one; where they go back instead, they ask nobody (pages/search-params.ts). The
  // browser asks before the console itself is left. Back closes a dialog that is not in the address too, and the page
  // stays: it has no entry of the history that could be left.
  useBlocker({
    shouldBlockFn: ({ action, current }) => {
      if (action === 'PUSH' || action === 'REPLACE') return false
      if (isKept()) return true
      if (action !== 'BACK' || ref.current === null || isOpenIn(current.search)) return false
      onClose()
      return true
    },
    enableBeforeUnload: isKept,
  })
  return {
    ref,
    onCancel(event: SyntheticEvent): void {
      // A file field in the dialog has such an event too.
      if (event.target !== ref.current) return
      event.preventDefault()
      if (!isKept()) onClose()
    },
    /** Browsers close a dialog at the second Escape, whatever was done about the first. */
    onClose(): void {
      if (ref.current === null || ref.current.open) return
      if (isKept()) ref.current.showModal()
      else onClose()
    },
    onInput({ target }: SyntheticEvent): void {
      isChanged.current ||= (target as Element).closest(FORM) !== null
    },
    onPointerDown({ target }: PointerEvent): void {
      isBeside.current = target === ref.current
    },
    onPointerUp({ target }: PointerEvent): void {
      isBeside.current &&= target === ref.current
    },
    /**
     * If the pointer went down in the content and up beside it, as when text is selected, the click is the dialog's.
     */
    onClick({ target }: SyntheticEvent): void {
      if (target === ref.current && isBeside.current && !isKept()) onClose()
    },
  }
}
