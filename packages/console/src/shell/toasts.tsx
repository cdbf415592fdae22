import { useEffect, useRef, useSyncExternalStore } from 'react'
import { CopyButton } from '../components/copy.tsx'
import { CloseIcon } from '../components/icons.tsx'
import { currentToasts, dismiss, onToasts } from './toast-store.ts'

export function Toasts() {
  const toasts = useSyncExternalStore(onToasts, currentToasts)
  const layer = useRef<HTMLDivElement>(null)
  // A modal dialog is drawn in front of everything but what was put into the browser's top layer after it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: again for each toast
  useEffect(() => {
    layer.current!.hidePopover()
    layer.current!.showPopover()
  }, [toasts])
  return (
    <div ref={layer} className="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.map(({ id, text, isFailure, requestId }) => (
        <div key={id} className={isFailure ? 'toast bad' : 'toast'}>
          <div className="grow stack tight">
            <span className="toast-text" dir="auto" title={text}>
              {text}
            </span>
            {requestId === null ? null : (
              <span className="copyable quiet small">
                Request <code className="cut">{requestId}</code>
                <CopyButton text={requestId} label="Copy the request id" />
              </span>
            )}
          </div>
          <button type="button" className="button bare icon slim" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <CloseIcon />
          </button>
        </div>
      ))}
    </div>
  )
}
