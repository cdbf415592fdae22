// The navigation on a phone, which a button opens over the page. It is open at one address only, so following a link
// closes it, and Escape does, which gives the focus back to the button.
import { useEffect, useRef, useState, type RefObject } from 'react'

interface PhoneMenu {
  isOpen: boolean
  /** The button that opens it. */
  button: RefObject<HTMLButtonElement | null>
  open(): void
  close(): void
}

export function usePhoneMenu(pathname: string): PhoneMenu {
  const [openAt, setOpenAt] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const isOpen = openAt === pathname
  useEffect(() => {
    if (!isOpen) return undefined
    const press = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return
      setOpenAt(null)
      button.current?.focus()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [isOpen])
  return { isOpen, button, open: () => setOpenAt(pathname), close: () => setOpenAt(null) }
}
