// Claims on memories to embed: a memory is claimed before it is embedded, so that several nodes, or the command line
// beside a service, share the work.
//
// 1. A claim is short and is renewed while the work lasts: the claims of a dead node lapse after CLAIM_MS.
// 2. Rows that another transaction has locked are skipped: they are being written or deleted. The next run finds what
//    is left. Claimed memories are in the order of tenant and memory id, in which all code locks the rows of several
//    memories.
// 3. A claim further in the future than a claim can reach was made by a clock that has been set back since, and is
//    ignored. The same goes for the time of the next attempt.
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Db, Store } from '../store/db.ts'

/** The memories of a crashed node are being embedded after both times, five seconds. */
const CLAIM_MS = 3_000
export const LOOK_EVERY_MS = 2_000
const RENEW_MS = 1_000
/** How long a memory rests after a failure. */
const RETRY_MS = 30_000
/** If it was claimed with one that failed and not tried alone: shorter, so that the two are not claimed together. */
const UNSURE_MS = 20_000
/** After the service refused its text. */
const REFUSED_MS = 3_600_000

/** Condition on a memory that is neither claimed nor resting. */
const FREE = '(claimed_until <= ? or claimed_until > ?) and (retry_at <= ? or retry_at > ?)'
// The margins allow for clocks of nodes that differ a little.
const freeAt = (now: number): number[] => [now, now + 2 * CLAIM_MS, now, now + REFUSED_MS + CLAIM_MS]

export interface MemoryName {
  tenantId: string
  memoryId: string
}

/** A claimed memory with its text. */
export interface ClaimedText extends MemoryName {
  version: number
  text: string
}

export interface EmbeddingClaims {
  /** Claims the given memories that wait to be embedded and are unclaimed. */
  claimNamed(names: readonly MemoryName[]): Promise<ClaimedText[]>
  /** Claims memories that a crash, an outage or a change of model left behind; tenants take turns. */
  claimLeftover(): Promise<ClaimedText[]>
  /** Renews the claims of a batch until the returned function is called. */
  keepRenewing(batch: readonly ClaimedText[]): () => void
  /** Gives a batch back: it can be claimed again at once, or after a rest. */
  release(batch: readonly ClaimedText[], why: WhyReleased): Promise<void>
  close(): void
}

interface ClaimTools {
  store: Store
  model: string
  /** How many memories are claimed at once. */
  batch: number
  clock: Clock
  log: Logger
}

interface ClaimedRow {
  tenant_id: string
  memory_id: string
  version: number
}

const REST_MS = { closing: 0, failed: RETRY_MS, unsure: UNSURE_MS, refused: REFUSED_MS } as const
export type WhyReleased = keyof typeof REST_MS
/** Turns of one call of `claimLeftover`. */
const TURNS = 16

/** Returns the texts of a tenant's claimed memories. */
async function readTexts(db: Db, tenantId: string, claimed: readonly ClaimedRow[]): Promise<ClaimedText[]> {
  const versions = new Map(claimed.map(({ memory_id, version }) => [memory_id, version]))
  // The texts of given memories, live or not.
  const memories = await db.rows<{ id: string; title: string; content: string }>(
    `select id, title, content from memories where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list([...versions.keys()])],
  )
  return memories.map(({ id, title, content }) => ({
    tenantId,
    memoryId: id,
    version: versions.get(id)!,
    text: `${title}\n${content}`,
  }))
}

const byName = (a: MemoryName, b: MemoryName): number =>
  a.tenantId === b.tenantId ? (a.memoryId < b.memoryId ? -1 : 1) : a.tenantId < b.tenantId ? -1 : 1

const byTenant = <T extends MemoryName>(names: readonly T[]): [string, T[]][] => [
  ...Map.groupBy(names.toSorted(byName), ({ tenantId }) => tenantId),
]

async function claim(
  tx: Db,
  model: string,
  now: number,
  tenantId: string,
  ids: readonly string[],
): Promise<ClaimedText[]> {
  const { inList, inRows, list, skipLocked } = tx.dialect
  // Claims the given memories that wait to be embedded and are unclaimed. Locks them and skips locked rows. Returns the
  // rows it claimed.
  const claimed = await tx.rows<ClaimedRow>(
    `with free as (select memory_id from memory_recall
        where tenant_id = ? and ${inList('memory_id')} and embedded <> ? and ${FREE} ${skipLocked})
     update memory_recall set claimed_until = ? where tenant_id = ? and ${inRows('memory_id', 'select memory_id from free')}
     returning tenant_id, memory_id, version`,
    [tenantId, list(ids), model, ...freeAt(now), now + CLAIM_MS, tenantId],
  )
  return claimed.length === 0 ? [] : (await readTexts(tx, tenantId, claimed)).sort(byName)
}

/** Memories of one tenant that one model has embedded, or none yet if `embedded` is empty. */
interface Left {
  embedded: string
  tenantId: string
}

const FIRST: Left = { embedded: '', tenantId: '' }

/**
 * Returns what `memory_recall` says about who embedded its memories, apart from this model: the empty text first. Steps
 * from one value to the next, so that the number of memories does not matter.
 */
async function otherModels(db: Pick<Db, 'rows'>, model: string): Promise<string[]> {
  const found: string[] = []
  for (let compare = '>=', last = ''; ; compare = '>') {
    // The first value, or the next one, from the index.
    const [next] = await db.rows<{ embedded: string }>(
      `select embedded from memory_recall where embedded ${compare} ? order by embedded limit 1`,
      [last],
    )
    if (!next) return found
    last = next.embedded
    if (last !== model) found.push(last)
  }
}

/**
 * Returns who has memories left to embed, beginning after the one that had its turn last: tenants by what their
 * memories were embedded with, never embedded ones first. While a model is replaced, a tenant may have a turn for each.
 */
async function whoIsLeft(db: Pick<Db, 'rows'>, model: string, now: number, last: Left): Promise<Left[]> {
  const models = await otherModels(db, model)
  const left: Left[] = []
  for (const embedded of models.slice(Math.max(0, models.indexOf(last.embedded)))) {
    let tenantId = embedded === last.embedded ? last.tenantId : ''
    while (left.length < TURNS) {
      // The next tenant with an unclaimed memory that was embedded so. Steps over the memories of all tenants before
      // it.
      const [next] = await db.rows<{ tenant_id: string }>(
        `select tenant_id from memory_recall where embedded = ? and tenant_id > ? and ${FREE} order by tenant_id limit 1`,
        [embedded, tenantId, ...freeAt(now)],
      )
      if (!next) break
      tenantId = next.tenant_id
      left.push({ embedded, tenantId })
    }
  }
  return left.length > 0 || last === FIRST ? left : whoIsLeft(db, model, now, FIRST)
}

export function makeEmbeddingClaims({ store, model, batch, clock, log }: ClaimTools): EmbeddingClaims {
  const held = new Set<readonly ClaimedText[]>()
  let timer: NodeJS.Timeout | undefined
  /** Whose turn was last. */
  let last = FIRST
  /** The last memory that was looked at of each of those: what is given back does not hide what is behind it. */
  const seen = new Map<string, string>()

  /** Returns some of a tenant's memories that are left to embed, those that follow the last ones it returned first. */
  async function nextOf({ embedded, tenantId }: Left, many: number): Promise<string[]> {
    const name = `${embedded} ${tenantId}`
    for (;;) {
      const after = seen.get(name) ?? ''
      // Locks nothing: the claim decides.
      const some = await store.rows<{ memory_id: string }>(
        `select memory_id from memory_recall where embedded = ? and tenant_id = ? and memory_id > ? and ${FREE}
          order by memory_id limit ?`,
        [embedded, tenantId, after, ...freeAt(clock.now()), many],
      )
      if (some.length === many) seen.set(name, some.at(-1)!.memory_id)
      else seen.delete(name)
      if (some.length > 0 || after === '') return some.map(({ memory_id }) => memory_id)
    }
  }

  async function renew(): Promise<void> {
    try {
      await store.tx(async (tx) => {
        for (const [tenantId, texts] of byTenant([...held].flat())) {
          const { inList, inRows, list, skipLocked } = tx.dialect
          // Extends the claims on given memories that are not embedded yet; skips locked rows.
          await tx.run(
            `with held as (select memory_id from memory_recall
                where tenant_id = ? and ${inList('memory_id')} and embedded <> ? ${skipLocked})
             update memory_recall set claimed_until = ? where tenant_id = ? and ${inRows('memory_id', 'select memory_id from held')}`,
            [tenantId, list(texts.map(({ memoryId }) => memoryId)), model, clock.now() + CLAIM_MS, tenantId],
          )
        }
      })
    } catch (error) {
      log.warn({ err: error }, 'claims on memories were not renewed; another node may embed the same')
    }
  }

  return {
    claimNamed: (names) =>
      store.tx(async (tx) => {
        const claimed: ClaimedText[] = []
        for (const [tenantId, group] of byTenant(names)) {
          const ids = group.map(({ memoryId }) => memoryId)
          claimed.push(...(await claim(tx, model, clock.now(), tenantId, ids)))
        }
        return claimed
      }),
    async claimLeftover() {
      const turns = await whoIsLeft(store, model, clock.now(), last)
      if (turns.length === 0) seen.clear()
      const claimed: ClaimedText[] = []
      const share = Math.ceil(batch / Math.max(1, turns.length))
      for (const turn of turns) {
        const ids = await nextOf(turn, share)
        claimed.push(...(await store.tx((tx) => claim(tx, model, clock.now(), turn.tenantId, ids))))
        last = turn
      }
      return claimed.sort(byName)
    },
    keepRenewing(texts) {
      held.add(texts)
      timer ??= setInterval(() => void renew(), RENEW_MS).unref()
      return () => {
        held.delete(texts)
        if (held.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    release: async (texts, why) => {
      if (texts.length === 0) return
      await store.tx(async (tx) => {
        const until = REST_MS[why] === 0 ? 0 : clock.now() + REST_MS[why]
        for (const { tenantId, memoryId, version } of texts.toSorted(byName)) {
          // Ends the claim on a memory, unless its text has changed since. Locks its row.
          await tx.run(
            'update memory_recall set claimed_until = 0, retry_at = ? where tenant_id = ? and memory_id = ? and version = ?',
            [until, tenantId, memoryId, version],
          )
        }
      })
    },
    close: () => clearInterval(timer),
  }
}
