import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { CopyButton } from './copy.tsx'
import { KEEPS_OPEN } from './modal.ts'
import { Overlay } from './overlay.tsx'
import { Loading } from './states.tsx'

interface ShownOnceProps {
  secret: string
  /** What the secret is called: `the key`. */
  name: string
  onClose(): void
  children: ReactNode
}

/** Shows a secret from the only response that contains it, until a button is pressed. */
export function ShownOnce({ secret, name, onClose, children }: ShownOnceProps) {
  const ref = useRef<HTMLDivElement>(null)
  // It takes the place of a form, or of a placeholder, and what had the focus is gone with it.
  useLayoutEffect(() => ref.current!.querySelector('button')!.focus(), [])
  return (
    <div ref={ref} className={`stack wide ${KEEPS_OPEN}`}>
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

interface MadeSecretProps<R> {
  title: string
  name: string
  /** The action that makes the secret. */
  of: { data: R | undefined; isPending: boolean; reset(): void }
  secretOf(made: R): string
  children: ReactNode
}

/**
 * The dialog of a secret that a button on a page makes, with no form or question before. It is open from the moment
 * when the button is pressed: whoever left the page before the response came would lose the secret.
 */
export function MadeSecret<R>({ title, name, of, secretOf, children }: MadeSecretProps<R>) {
  const { data, isPending, reset } = of
  if (data === undefined && !isPending) return null
  return (
    <Overlay title={title} awaitsSecret={isPending} onClose={reset}>
      {data === undefined ? (
        <Loading lines={3} />
      ) : (
        <ShownOnce secret={secretOf(data)} name={name} onClose={reset}>
          {children}
        </ShownOnce>
      )}
    </Overlay>
  )
}
