// Resolves names to addresses without holding anybody up. Node's usual lookup runs in a pool of four threads that files
// and logs need as well: four names whose servers never answer would block them all. So queries go out on sockets of
// their own, and the pool is used, one query at a time, only for names that a name server does not know (hosts files,
// search domains).
import { lookup, Resolver } from 'node:dns/promises'
import type { Resolve } from './safe-address.ts'

const KEEP_MS = 10_000
const MAX_KEPT = 10_000
const MAX_WAITING = 100

export function makeResolve(elapsed: () => number, servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  const kept = new Map<string, { addresses: Promise<string[]>; until: number }>()
  let turn: Promise<unknown> = Promise.resolve()
  let waiting = 0

  async function locally(hostname: string): Promise<string[]> {
    if (waiting >= MAX_WAITING) throw new Error(`${hostname} could not be resolved`)
    waiting++
    const mine = turn.then(() => lookup(hostname, { all: true, verbatim: true }))
    turn = mine.catch(() => {}).finally(() => waiting--)
    return (await mine).map(({ address }) => address)
  }

  async function ask(hostname: string): Promise<string[]> {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const { code } = (answers[0] as PromiseRejectedResult).reason as NodeJS.ErrnoException
    // A server that does not answer would not answer the pool either.
    if (code === 'ETIMEOUT' || servers)
      throw Object.assign(new Error(`${hostname} could not be resolved (${code})`), { code })
    return locally(hostname)
  }

  return (hostname) => {
    const known = kept.get(hostname)
    if (known && known.until > elapsed()) return known.addresses
    if (kept.size >= MAX_KEPT) kept.clear()
    const addresses = ask(hostname)
    kept.set(hostname, { addresses, until: elapsed() + KEEP_MS })
    addresses.catch(() => kept.delete(hostname))
    return addresses
  }
}
