// Resolves names to addresses without holding anybody up. Node's usual lookup runs in a pool of four threads that files
// and logs need as well: four names whose servers never answer would block them all. So queries go out on sockets of
// their own, and the pool is used only for names that a name server does not know (hosts files, search domains).
//
// 1. At most two lookups are in the pool. A lookup there cannot be ended, and one whose server stopped answering takes
//    many seconds, so a tenant has one at a time, and the second is for another tenant.
// 2. A lookup that waited until nobody needs it any more is not made.
// 3. What was found is kept for some seconds, and so is that nothing was found. It is kept for each tenant, so that
//    nobody waits for a lookup in the line of another tenant.
// 4. Of the addresses of a name a few are kept, however many the answer holds.
import { lookup, Resolver } from 'node:dns/promises'
import { makeTurns } from '../kernel/turns.ts'
import type { Resolve } from './safe-address.ts'

const KEEP_MS = 10_000
const MAX_KEPT = 10_000
/** How long a push waits for all of its exchange, and so for a name: see post.ts. */
const NEEDED_MS = 15_000
const MAX_WAITING_OF_TENANT = 100
/**
 * Addresses of a name that are kept, of IPv4 and of IPv6. An answer may hold thousands, and all of them are checked for
 * every connection: that took 60 ms.
 */
const MAX_ADDRESSES = 16

type LookUp = (hostname: string) => Promise<string[]>

const lookUpInPool: LookUp = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address)

function firstOfEachFamily(addresses: readonly string[]): string[] {
  const room = { v4: MAX_ADDRESSES, v6: MAX_ADDRESSES }
  return addresses.filter((address) => room[address.includes(':') ? 'v6' : 'v4']-- > 0)
}

interface Kept {
  addresses: Promise<string[]>
  /** In elapsed time, like `askedAt`. */
  until: number
  /** When the name was last needed. */
  askedAt: number
}

interface ResolveTools {
  elapsed: () => number
  /** The name servers to ask instead of those of the system. */
  servers?: readonly string[]
  /** For names that no server knows. With `servers` there is none by default. */
  lookUp?: LookUp
}

export function makeResolve({ elapsed, servers, lookUp = servers ? undefined : lookUpInPool }: ResolveTools): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  const kept = new Map<string, Kept>()
  const turns = makeTurns({ what: 'names waiting', atOnce: 2, kept: 1, perAgent: MAX_WAITING_OF_TENANT })

  async function ask(hostname: string, tenantId: string, isNeeded: () => boolean): Promise<string[]> {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const { code } = (answers[0] as PromiseRejectedResult).reason as NodeJS.ErrnoException
    const failed = Object.assign(new Error(`${hostname} could not be resolved (${code})`), { code })
    // A server that does not answer would not answer the pool either.
    if (code === 'ETIMEOUT' || !lookUp) throw failed
    return turns.take(tenantId, '', async () => {
      if (!isNeeded()) throw failed
      return lookUp(hostname).catch(() => [])
    })
  }

  function begin(key: string, hostname: string, tenantId: string): Kept {
    const isNeeded = (): boolean => elapsed() - entry.askedAt < NEEDED_MS
    const addresses = ask(hostname, tenantId, isNeeded).then(firstOfEachFamily)
    const entry: Kept = { addresses, until: Infinity, askedAt: elapsed() }
    addresses.then(
      () => (entry.until = elapsed() + KEEP_MS),
      () => kept.get(key) === entry && kept.delete(key),
    )
    return entry
  }

  return (hostname, tenantId) => {
    const key = `${tenantId} ${hostname}`
    let entry = kept.get(key)
    if (!entry || entry.until <= elapsed()) {
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(key, (entry = begin(key, hostname, tenantId)))
    }
    entry.askedAt = elapsed()
    return entry.addresses
  }
}
