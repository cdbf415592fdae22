// Bounds the memory of bodies while they arrive and are processed. A body may have 10 MiB and an agent a thousand
// requests in hand, so long bodies share a room: by agent (or by address, if the caller is unknown), tenant and node. A
// body that finds its share empty always fits, whatever its size, so that no body is refused for ever.
import type { Principal } from '../auth/principal.ts'
import { tooManyAtOnce, unavailable } from '../kernel/failure.ts'

const MIB = 1_048_576
const OF_THE_NODE = 192 * MIB
const OF_A_TENANT = 64 * MIB
const OF_AN_AGENT = 32 * MIB
/** Bodies up to this size are not counted; nearly all bodies are smaller. */
export const UNCOUNTED = 65_536

interface Share {
  readonly key: string
  readonly limit: number
  taken: number
}

/** The memory that one body takes. */
export interface Holding {
  /** Counts the bytes that the body has, or will have. Throws if that is too much beside the other bodies. */
  grow(bytes: number): void
  release(): void
}

export interface BodyRoom {
  hold(principal: Principal | null, address: string): Holding
  /** Bytes taken by all bodies together. */
  readonly taken: number
}

export function makeBodyRoom(): BodyRoom {
  const node: Share = { key: '', limit: OF_THE_NODE, taken: 0 }
  const shares = new Map<string, Share>()

  function shareOf(key: string, limit: number): Share {
    let share = shares.get(key)
    if (!share) shares.set(key, (share = { key, limit, taken: 0 }))
    return share
  }

  const sharesOf = (principal: Principal | null, address: string): Share[] =>
    principal === null || principal.tenantId === ''
      ? [shareOf(`address ${address}`, OF_AN_AGENT), node]
      : [
          shareOf(`agent ${principal.tenantId} ${principal.id}`, OF_AN_AGENT),
          shareOf(`tenant ${principal.tenantId}`, OF_A_TENANT),
          node,
        ]

  function forgetEmpty(held: readonly Share[]): void {
    for (const share of held) if (share.taken === 0 && share.key !== '') shares.delete(share.key)
  }

  return {
    hold(principal, address) {
      let counted = 0
      let held: readonly Share[] = []
      return {
        grow(bytes) {
          if (bytes <= UNCOUNTED || bytes <= counted) return
          if (held.length === 0) held = sharesOf(principal, address)
          const more = bytes - counted
          for (const share of held) {
            if (share.taken === counted || share.taken + more <= share.limit) continue
            forgetEmpty(held)
            throw share.key === ''
              ? unavailable('This node has too much of requests in memory')
              : tooManyAtOnce('bytes of request bodies in hand', share.limit)
          }
          for (const share of held) share.taken += more
          counted = bytes
        },
        release() {
          for (const share of held) share.taken -= counted
          forgetEmpty(held)
          counted = 0
          held = []
        },
      }
    },
    get taken() {
      return node.taken
    },
  }
}
