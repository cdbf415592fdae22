// What the shell knows of a page: its place in the navigation, which sessions see it, and how to search it by name.
import type { ReactNode } from 'react'
import type { Scope, Session } from '../session/session.ts'

export interface Found {
  title: string
  /** The kind of thing that was found: `Agent`. */
  kind: string
  /** An address below /console. */
  to: string
  /** The search parameters of that address. */
  search?: Readonly<Record<string, string>>
}

/** A form of the page that creates something, and has an address: `?new=agent`. */
interface Creation {
  title: string
  new: string
  /** The scope that it takes; without one, everybody who may use the page has the form. */
  scope?: Scope
}

export interface Page {
  /** The address of the page's list. */
  path: string
  title: string
  icon: ReactNode
  /** Two keys, one after the other: `g a`. */
  keys: string
  /** Whether the session may use the page. Otherwise it is not shown. */
  isFor(session: Session): boolean
  /** What the command palette offers to create. */
  creates?: readonly Creation[]
  /** Returns items of this page whose name or id contains the text, for the command palette. */
  find?(session: Session, text: string): Promise<Found[]>
}
