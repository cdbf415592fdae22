// Where a page and its lists were scrolled to, for each entry of the browser's history: whoever comes back to an entry,
// with Back or with the arrow of a page, finds it as it was left. A new visit of the same address begins at the top.
import { useLocation, useMatch } from '@tanstack/react-router'
import { useLayoutEffect, useRef, type RefObject } from 'react'

const places = new Map<string, number>()

/**
 * What scrolls is the element that this selector names, around or at `inside`. The name tells apart what scrolls on one
 * page.
 */
export function useScrollPlace(inside: RefObject<HTMLElement | null>, selector: string, name: string): void {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key })
  // The entry is that of the next page for a moment before that page is shown, and this one must not set its place.
  const path = useMatch({ strict: false, select: ({ pathname }) => pathname })
  const key = `${entry} ${path} ${name}`
  const isRestored = useRef(false)
  useLayoutEffect(() => {
    const element = inside.current!.closest(selector)
    // The page of a failure may stand alone, without the frame that scrolls.
    if (element === null) return undefined
    // A drawer that opens is an entry too, but nothing behind it moves.
    if (!isRestored.current) element.scrollTop = places.get(key) ?? 0
    isRestored.current = true
    return () => void places.set(key, element.scrollTop)
  }, [inside, selector, key])
}
