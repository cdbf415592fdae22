// How many TLS handshakes are made at once. Node verifies all certificates that an endpoint sends in one step, and no
// option limits that: 61 certificates with long exponents took 1.9 s, and nothing else happens in the thread meanwhile.
//
// 1. For an agent and an origin (scheme, host and port) one handshake is made at a time, until one has succeeded.
// 2. From then on there are up to four. An origin may have been proven only to send such certificates afterwards, and
//    all requests to one endpoint at once would take a minute then.
// 3. A connection that could not be made takes the proof back.
//
// A connection that was kept needs no handshake, and takes a turn for a moment only.

const AT_ONCE = 4
const MAX_PROVEN = 10_000

export interface Handshakes {
  /**
   * Resolves when a request may be sent, on a new or a kept connection. The returned function is called when the
   * connection is there, or could not be made; only the first call counts.
   */
  begin(agentId: string, origin: string): Promise<(succeeded: boolean) => void>
}

interface Line {
  busy: number
  waiting: (() => void)[]
}

export function makeHandshakes(): Handshakes {
  const proven = new Set<string>()
  const lines = new Map<string, Line>()

  const hasRoom = (key: string, { busy }: Line): boolean => busy < (proven.has(key) ? AT_ONCE : 1)

  function end(key: string, line: Line, succeeded: boolean): void {
    line.busy--
    if (!succeeded) proven.delete(key)
    else if (!proven.has(key)) {
      if (proven.size >= MAX_PROVEN) proven.clear()
      proven.add(key)
    }
    while (line.waiting.length > 0 && hasRoom(key, line)) {
      line.busy++
      line.waiting.shift()!()
    }
    if (line.busy === 0) lines.delete(key)
  }

  return {
    async begin(agentId, origin) {
      const key = `${agentId} ${origin}`
      let line = lines.get(key)
      if (!line) lines.set(key, (line = { busy: 0, waiting: [] }))
      if (hasRoom(key, line)) line.busy++
      else await new Promise<void>((resolve) => line.waiting.push(resolve))
      let isOver = false
      return (succeeded) => {
        if (isOver) return
        isOver = true
        end(key, line, succeeded)
      }
    },
  }
}
