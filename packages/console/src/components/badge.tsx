import type { ReactNode } from 'react'

export type Tone = 'good' | 'warn' | 'bad' | 'cool'

/** A state in one word. `plain` omits the dot, for kinds rather than states. */
export function Badge({
  tone,
  plain = false,
  children,
}: {
  tone?: Tone | undefined
  plain?: boolean
  children: ReactNode
}) {
  return <span className={['badge', tone, plain ? 'plain' : ''].filter(Boolean).join(' ')}>{children}</span>
}
