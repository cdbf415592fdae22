// Short messages in the corner. A failure stays until it is dismissed and has the request id to copy.
import { SensoriumError } from '@sensorium/client'

interface Toast {
  id: number
  text: string
  isFailure: boolean
  requestId: string | null
}

const SHOWN_MS = 4_000
const MOST = 4

let toasts: readonly Toast[] = []
let next = 0
const listeners = new Set<() => void>()

function set(now: readonly Toast[]): void {
  toasts = now
  for (const listener of listeners) listener()
}

export const currentToasts = (): readonly Toast[] => toasts

export function onToasts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const dismiss = (id: number): void => set(toasts.filter((toast) => toast.id !== id))

/** Failures stay until somebody dismisses them, so those of one user are removed before the next one signs in. */
export const dismissFailures = (): void => set(toasts.filter(({ isFailure }) => !isFailure))

function add(toast: Omit<Toast, 'id'>): void {
  const id = next++
  set([...toasts, { ...toast, id }].slice(-MOST))
  if (!toast.isFailure) setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Shows that something was done. */
export const showToast = (text: string): void => add({ text, isFailure: false, requestId: null })

/** Shows what went wrong, with the request id, after a text that says what was done before. */
export const showFailure = (error: unknown, before = ''): void =>
  add({
    text: before + (error instanceof Error ? error.message : String(error)),
    isFailure: true,
    requestId: error instanceof SensoriumError ? error.requestId : null,
  })
