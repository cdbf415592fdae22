// A system that does the same work: an event goes to three recipients, and its publisher gets a confirmation when it is
// safe.

export const RECIPIENTS = 3

export interface Message {
  id: string
  text: string
}

export interface Peer {
  name: string
  /** What the system has done by the time it confirms. */
  durability: string
  /** The process whose processor time, including that of all its children, counts as the cost. */
  pid(): number
  /** Resolves when the event is safe for all recipients. */
  publish(message: Message): Promise<void>
  /** Hands every event to the recipient and acknowledges it; resolves once it is listening. */
  receive(recipient: number, heard: (id: string) => void): Promise<void>
  stop(): Promise<void>
}

/** Resolves to a sentence instead if the system is not installed on this machine. */
export type StartPeer = () => Promise<Peer | string>

/** Loads a package that is not among our dependencies, or returns null. Install it beside them to compare. */
export async function optional<T>(name: string): Promise<T | null> {
  try {
    return (await import(name)) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}
