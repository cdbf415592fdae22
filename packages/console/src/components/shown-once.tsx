import type { ReactNode } from 'react'
import { CopyButton } from './copy.tsx'
import { KEEPS_OPEN } from './modal.ts'

interface ShownOnceProps {
  secret: string
  /** What the secret is called: `the key`. */
  name: string
  onClose(): void
  children: ReactNode
}

/** Shows a secret from the only response that contains it, until a button is pressed. */
export function ShownOnce({ secret, name, onClose, children }: ShownOnceProps) {
  return (
    <div className={`stack wide ${KEEPS_OPEN}`}>
      <p>{children} It is shown this once.</p>
      <div className="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label={`Copy ${name}`} />
      </div>
      <div className="form-end">
        <button type="button" className="button primary" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </div>
  )
}
