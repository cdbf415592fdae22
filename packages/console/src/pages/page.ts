// What the shell knows of a page: its place in the navigation, who sees it, and what of it can be found by name.
import type { ReactNode } from 'react'
import type { Session } from '../session/session.ts'

export interface Found {
  title: string
  /** What it is: `Agent`. */
  kind: string
  /** An address below /console. */
  to: string
}

export interface Page {
  /** The address of its list. */
  path: string
  title: string
  icon: ReactNode
  /** Two keys, one after the other: `g a`. */
  keys: string
  /** What the session's scopes do not allow is not shown. */
  isFor(session: Session): boolean
  /** Things of this page whose name or id has the text in it, for the command palette. */
  find?(session: Session, text: string): Promise<Found[]>
}
