// Keyboard shortcuts of one key, or of two in sequence. The sheet lists those that are registered now. They are off
// while the user types and while a dialog is open.
import { useEffect, useRef, useSyncExternalStore } from 'react'

interface Shortcut {
  keys: string
  says: string
  run(): void
}

const PAIR_MS = 1_200
let active: readonly Shortcut[] = []
const listeners = new Set<() => void>()

function set(now: readonly Shortcut[]): void {
  active = now
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Registers a shortcut while the component is shown. */
export function useShortcut(keys: string, says: string, run: () => void, enabled = true): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (!enabled) return undefined
    const shortcut: Shortcut = { keys, says, run: () => latest.current() }
    set([...active, shortcut])
    return () => set(active.filter((other) => other !== shortcut))
  }, [keys, says, enabled])
}

export const useShortcuts = (): readonly Shortcut[] => useSyncExternalStore(subscribe, () => active)

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/**
 * Whether a dialog is open. It has all keys then: another one in front of it could lead away and lose its content. A
 * dialog is in the page only while it is to be open; that the browser closed it, for a moment, does not count.
 */
export const dialogIsOpen = (): boolean => document.querySelector('dialog') !== null

/** Keys that lead into a table. The arrow scrolls a page, so it leads only into a list that takes the whole page. */
const INTO: Readonly<Record<string, string>> = { j: '.table', k: '.table', ArrowDown: '.table.fill' }

/** Returns the row that a key leads to while no row has the focus: the one that Tab would lead to. */
function rowFor({ key, target }: KeyboardEvent): HTMLElement | null {
  if (INTO[key] === undefined || (target as Element).closest('[role="row"]') !== null) return null
  return document.querySelector(`main ${INTO[key]} [role="row"][tabindex="0"]`)
}

/** Listens for all shortcuts. Returns a function that stops listening. */
export function listenForShortcuts(): () => void {
  let first: { key: string; at: number } | null = null
  const press = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
    if (dialogIsOpen()) return
    const pair = first !== null && event.timeStamp - first.at < PAIR_MS ? `${first.key} ${event.key}` : null
    const found = active.find(({ keys }) => keys === pair) ?? active.find(({ keys }) => keys === event.key)
    first = found ? null : { key: event.key, at: event.timeStamp }
    const row = found === undefined ? rowFor(event) : null
    if (found === undefined && row === null) return
    event.preventDefault()
    found?.run()
    row?.focus()
  }
  addEventListener('keydown', press)
  return () => removeEventListener('keydown', press)
}
