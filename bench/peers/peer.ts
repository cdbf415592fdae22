// Another system that does the same work: an event goes to three recipients, and its publisher is told when it is safe.

export const RECIPIENTS = 3

export interface Message {
  id: string
  text: string
}

export interface Peer {
  name: string
  /** What it has done when it confirms. */
  durability: string
  /** The process whose processor time, with that of all it started, is its cost. */
  pid(): number
  /** Resolves when the event is safe for all recipients. */
  publish(message: Message): Promise<void>
  /** Hands every event to the recipient and acknowledges it; resolves when it listens. */
  receive(recipient: number, heard: (id: string) => void): Promise<void>
  stop(): Promise<void>
}

/** A sentence instead where it is not installed on this machine. */
export type StartPeer = () => Promise<Peer | string>

/** What is not among our dependencies: whoever wants to compare installs it beside them. */
export async function optional<T>(name: string): Promise<T | null> {
  try {
    return (await import(name)) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  }
}
