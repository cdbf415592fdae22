// Keeps the bytes of a message as they arrive, up to a bound. rhea would decode them before they are checked, and an
// error that it throws ends the connection: the broker would send the same message again, for ever.
import type { Session } from 'rhea'

/** Bytes a message may have beside its body, for properties and annotations. */
const BESIDE_THE_BODY = 65_536
/** 0 stands for AMQP's own message format, which rhea decodes; messages of other formats it passes on as bytes. */
const UNDECODED = 1
const NO_BYTES = Buffer.alloc(0)

interface Frame {
  performative: { message_format?: number; more?: boolean }
  payload?: Buffer
}

export interface Transfers {
  /** The size of the message that is being handed over, even if its bytes were not kept. */
  size(): number
  /** Whether the bytes of that message were kept. */
  isWhole(): boolean
}

/** Makes a session hand over messages undecoded. Of a message that is too large, at most the bound is ever held. */
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
