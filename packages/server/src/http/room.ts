// Bounds the memory of long bodies: of requests while they arrive and are processed, and of responses that are not read
// yet. A body may have some megabytes, and an agent a thousand requests in hand, so long bodies share a room: by agent,
// tenant and node, and if the caller is unknown by address and all strangers (strangers.ts). A body that finds its
// share empty always fits, whatever its size, so that none is refused for ever.
import type { Principal } from '../auth/principal.ts'
import { tooManyAtOnce, unavailable } from '../kernel/failure.ts'
import { NOBODY } from '../operations/call.ts'
import { mostOf, OF_STRANGERS, ownersOf, type Share } from './strangers.ts'

const MIB = 1_048_576
const OF_THE_NODE = 192 * MIB
const OF_A_TENANT = 64 * MIB
const OF_AN_AGENT = 32 * MIB
/** Bodies up to this size are not counted; nearly all bodies are smaller. */
export const UNCOUNTED = 65_536

/** The memory that one body takes. */
export interface Holding {
  /**
   * Whether a body takes its room when it is announced. That of a stranger takes what has arrived of it: to announce a
   * megabyte costs nothing.
   */
  readonly isReserved: boolean
  /** Counts the bytes that the body has, or will have. Throws if that is too much beside the other bodies. */
  grow(bytes: number): void
  /** Counts them however many there are, for the caller alone. */
  growAnyway(bytes: number): void
  release(): void
}

interface Room {
  hold(principal: Principal | null, address: string, route?: string): Holding
  /** Throws if the agent has no room left, before anything is done for it. */
  refuseFull(principal: Principal): void
  /**
   * Throws if a body of this agent and route did not fit and none of the agent has gone since. Each of a thousand
   * responses of a megabyte took 5 ms to make, only to be refused.
   */
  refuseAgain(principal: Principal, route: string): void
  /** Bytes taken by all bodies together. */
  readonly taken: number
}

interface RoomOptions {
  /** What takes room, as a refusal of the caller names it, and as one of the node does. */
  what: string
  whatOfNode: string
  /**
   * Whether half of a share is kept: that of a tenant for agents that take nothing of it, that of the node for such
   * tenants. It is needed where the other side decides how long the room is taken.
   */
  isHalfKept: boolean
}

export const makeBodyRoom = (): Room =>
  makeRoom({ what: 'bytes of request bodies in hand', whatOfNode: 'requests', isHalfKept: false })

export const makeResponseRoom = (): Room =>
  makeRoom({ what: 'bytes of responses that are not read', whatOfNode: 'responses', isHalfKept: true })

interface RoomShare extends Share {
  /** Where a body did not fit since the last one has gone. */
  refused?: Set<string>
}

function makeRoom({ what, whatOfNode, isHalfKept }: RoomOptions): Room {
  const node: Share = { key: '', limit: OF_THE_NODE, pool: null, taken: 0 }
  const strangers: Share = { key: '', limit: OF_THE_NODE * OF_STRANGERS, pool: null, taken: 0 }
  const shares = new Map<string, RoomShare>()

  function shareOf(key: string, limit: number, pool: Share | null = null): RoomShare {
    let share = shares.get(key)
    if (!share) shares.set(key, (share = { key, limit, pool, taken: 0 }))
    return share
  }

  const partsOf = (address: string): RoomShare[] =>
    ownersOf(address, 'address', OF_AN_AGENT, strangers).map(([key, limit]) => shareOf(key, limit, strangers))

  const sharesOf = (principal: Principal | null, address: string): RoomShare[] =>
    principal === null
      ? [...partsOf(address), strangers, node]
      : [
          shareOf(`agent ${principal.tenantId} ${principal.id}`, OF_AN_AGENT),
          shareOf(`tenant ${principal.tenantId}`, OF_A_TENANT),
          node,
        ]

  function forgetEmpty(held: readonly Share[]): void {
    for (const share of held)
      if (share.taken === 0 && share.key !== '' && shares.get(share.key) === share) shares.delete(share.key)
  }

  /** Returns the share that has no room for `more` bytes of a body that has `counted`, if there is one. */
  const fullOf = (held: readonly Share[], counted: number, more: number): Share | undefined =>
    held.find((share, i) => {
      if (share.taken === counted) return false
      const hasOthers = i > 0 && held[i - 1]!.taken > counted
      return share.taken + more > (isHalfKept && hasOthers ? share.limit / 2 : mostOf(share))
    })

  return {
    hold(caller, address, route = '') {
      const principal = caller === NOBODY ? null : caller
      let counted = 0
      let held: readonly RoomShare[] = []
      function count(bytes: number, mustFit: boolean): void {
        if (bytes <= UNCOUNTED || bytes <= counted) return
        // What must be sent counts against its own caller alone: others are not refused for it.
        if (held.length === 0) held = mustFit ? sharesOf(principal, address) : sharesOf(principal, address).slice(0, 1)
        const more = bytes - counted
        const full = mustFit ? fullOf(held, counted, more) : undefined
        if (full) {
          ;(held[0]!.refused ??= new Set()).add(route)
          forgetEmpty(held)
          if (counted === 0) held = []
          throw full.key === '' || (full.pool !== null && full.taken + more <= full.limit)
            ? unavailable(`This node has too much of ${whatOfNode} in memory`)
            : tooManyAtOnce(what, full.limit)
        }
        for (const share of held) share.taken += more
        counted = bytes
      }
      return {
        isReserved: principal !== null,
        grow: (bytes) => count(bytes, true),
        growAnyway: (bytes) => count(bytes, false),
        release() {
          for (const share of held) share.taken -= counted
          held[0]?.refused?.clear()
          forgetEmpty(held)
          counted = 0
          held = []
        },
      }
    },
    refuseFull({ tenantId, id }) {
      const share = shares.size === 0 ? undefined : shares.get(`agent ${tenantId} ${id}`)
      if (share && share.taken >= share.limit) throw tooManyAtOnce(what, share.limit)
    },
    refuseAgain({ tenantId, id }, route) {
      const share = shares.size === 0 ? undefined : shares.get(`agent ${tenantId} ${id}`)
      if (share?.refused?.has(route)) throw tooManyAtOnce(what, share.limit)
    },
    get taken() {
      return node.taken
    },
  }
}
