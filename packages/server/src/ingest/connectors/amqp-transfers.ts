// The bytes of a message as they come in, held up to a bound. The library would decode them itself before anybody has
// looked at them, and what it throws ends the connection: the broker sends the same message again, for ever.
import type { Session } from 'rhea'

/** What a message may have beside its body: properties and annotations. */
const BESIDE_THE_BODY = 65_536
/** Not 0, which stands for a message of AMQP's own: the library hands over other formats as they are. */
const UNDECODED = 1
const NO_BYTES = Buffer.alloc(0)

interface Frame {
  performative: { message_format?: number; more?: boolean }
  payload?: Buffer
}

export interface Transfers {
  /** The size of the message that is being handed over, also where its bytes were not kept. */
  size(): number
  /** Whether its bytes were. */
  isWhole(): boolean
}

/** Makes a session hand over messages undecoded; of one that is too large, no more than the bound is ever held. */
export function boundTransfers(session: Session, maxEventBytes: number): Transfers {
  const most = maxEventBytes + BESIDE_THE_BODY
  const bounded = session as unknown as { on_transfer(frame: Frame): void }
  const pass = bounded.on_transfer.bind(session)
  let size = 0
  bounded.on_transfer = (frame) => {
    frame.performative.message_format = UNDECODED
    frame.payload ??= NO_BYTES
    size += frame.payload.length
    if (size > most) frame.payload = NO_BYTES
    const isLast = frame.performative.more !== true
    try {
      pass(frame)
    } finally {
      if (isLast) size = 0
    }
  }
  return { size: () => size, isWhole: () => size <= most }
}
