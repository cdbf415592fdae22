// How many TLS handshakes are made at once. Node verifies all certificates that an endpoint sends in one step, and no
// option limits that: 61 certificates with long exponents took 1.9 s, and nothing else happens in the thread meanwhile.
//
// 1. For an agent and an origin (scheme, host and port) one handshake is made at a time, until one has succeeded.
// 2. From then on there are up to four. An origin may have been proven only to send such certificates afterwards, and
//    all requests to one endpoint at once would take a minute then.
// 3. A connection that could not be made takes the proof back, and keeps its turn for five seconds more. The breaker
//    alone would not do: it counts failures in a row, and an endpoint can respond to every other push.
//
// Only a new connection takes a turn. A request that gets a kept one never waits for the handshakes of others.
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '../kernel/clock.ts'

const AT_ONCE = 4
const REST_MS = 5_000
const MAX_PROVEN = 10_000

export interface Handshakes {
  /**
   * Resolves when a connection may be made. The returned function is called when it is there or could not be made, or
   * with null if none was tried; only the first call counts.
   */
  begin(agentId: string, origin: string): Promise<EndHandshake>
}

export type EndHandshake = (succeeded: boolean | null) => void

interface Line {
  busy: number
  waiting: (() => void)[]
}

/** The rest after a failure ends early if `closing` is aborted. */
export function makeHandshakes({ sleep }: Pick<Clock, 'sleep'>, closing: AbortSignal): Handshakes {
  const proven = new Set<string>()
  const lines = new Map<string, Line>()

  const hasRoom = (key: string, { busy }: Line): boolean => busy < (proven.has(key) ? AT_ONCE : 1)

  async function end(key: string, line: Line, succeeded: boolean | null): Promise<void> {
    if (succeeded === false) {
      proven.delete(key)
      await sleep(REST_MS, closing)
    } else if (succeeded && !proven.has(key)) {
      if (proven.size >= MAX_PROVEN) proven.clear()
      proven.add(key)
    }
    line.busy--
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
        void end(key, line, succeeded)
      }
    },
  }
}

/** Waits for a turn, and makes a connection. */
export type ConnectInTurn = (connect: () => Socket) => Promise<Socket>

/** An agent that makes each new connection as the option `inTurn` of the request says. */
export class AgentInTurns extends https.Agent {
  override createConnection(...[options, connected]: Parameters<Required<https.Agent>['createConnection']>): undefined {
    const { inTurn } = options as { inTurn: ConnectInTurn }
    inTurn(() => super.createConnection!(options) as Socket).then(
      (socket) => connected!(null, socket),
      (error: Error) => connected!(error, null as never),
    )
  }
}
