// Keyboard shortcuts of one key, or of two in sequence. The sheet lists those that are registered now. They are off
// while the user types and while a dialog is open.
import { useEffect, useRef, useSyncExternalStore } from 'react'

export interface Shortcut {
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

/** Listens for all shortcuts. Returns a function that stops listening. */
export function listenForShortcuts(): () => void {
  let first: { key: string; at: number } | null = null
  const press = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
    if (dialogIsOpen()) return
    const pair = first !== null && event.timeStamp - first.at < PAIR_MS ? `${first.key} ${event.key}` : null
    const found = active.find(({ keys }) => keys === pair) ?? active.find(({ keys }) => keys === event.key)
    first = found ? null : { key: event.key, at: event.timeStamp }
    if (found === undefined) return
    event.preventDefault()
    found.run()
  }
  addEventListener('keydown', press)
  return () => removeEventListener('keydown', press)
}
