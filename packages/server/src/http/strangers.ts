// What requests hold whose caller is not known yet, places (places.ts) and room for bodies (room.ts). They need no
// token, and whoever sends them may have many addresses:
//
// 1. All of them together have a third of the node, so that callers who are known always find the rest.
// 2. An address takes no more than is still free. Of n addresses that ask again and again each comes to one part of
//    n + 1, and the next address finds as much. What was taken before others came is not taken away: it is back in
//    seconds (slow-peers.ts). The same holds for health, readiness and metrics.
// 3. Who has one IPv6 network often has all 65,536 of its /48: together they take no more than is still free.
import { networkOf, siteOf } from '../kernel/addresses.ts'

/** The part of a node that strangers may hold together. */
export const OF_STRANGERS = 1 / 3

export interface Share {
  /** The owner of the share; empty for a share of the whole node, or of all strangers. */
  readonly key: string
  readonly limit: number
  /** The share of all strangers that this one is a part of; null if it belongs to a known caller, or to all. */
  readonly pool: Share | null
  taken: number
}

/** Returns how much the owner of a share may take in all, for now. */
export const mostOf = ({ limit, pool }: Share): number =>
  pool === null ? limit : Math.min(limit, pool.limit - pool.taken)

/** Returns the names under which an address takes its share of a pool, and how much each may have at most. */
export function ownersOf(address: string, kind: string, most: number, pool: Share): [key: string, limit: number][] {
  const site = siteOf(address)
  const network: [string, number] = [`${kind} ${networkOf(address)}`, most]
  return site === null ? [network] : [network, [`${kind} ${site}`, pool.limit]]
}
