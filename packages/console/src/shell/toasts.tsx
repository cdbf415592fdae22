import { useSyncExternalStore } from 'react'
import { CopyButton } from '../components/copy.tsx'
import { CloseIcon } from '../components/icons.tsx'
import { currentToasts, dismiss, onToasts } from './toast-store.ts'

export function Toasts() {
  const toasts = useSyncExternalStore(onToasts, currentToasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, isFailure, requestId }) => (
        <div key={id} className={isFailure ? 'toast bad' : 'toast'}>
          <div className="grow stack tight">
            <span>{text}</span>
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
