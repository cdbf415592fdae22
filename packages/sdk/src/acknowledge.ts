// Acknowledgements of many handlers, sent together: one call for what finishes within a few milliseconds.

const MOST = 100
const GATHER_MS = 5

interface Batch {
  ids: string[]
  /** Sends it without waiting for more. */
  send(): void
  sent: Promise<void>
}

/** Gives a function that resolves when the service has confirmed that delivery, and rejects when it could not. */
export function makeAcknowledge(send: (ids: readonly string[]) => Promise<unknown>): (id: string) => Promise<void> {
  let open: Batch | null = null

  function begin(): Batch {
    const ids: string[] = []
    let go!: () => void
    const ready = new Promise<void>((resolve) => (go = resolve))
    setTimeout(go, GATHER_MS)
    const batch: Batch = {
      ids,
      send: go,
      sent: ready.then(async () => {
        if (open === batch) open = null
        await send(ids)
      }),
    }
    return batch
  }

  return (id) => {
    open ??= begin()
    const batch = open
    batch.ids.push(id)
    if (batch.ids.length >= MOST) {
      open = null
      batch.send()
    }
    return batch.sent
  }
}
