// Indexes the words and facts of memories again that were indexed by older rules, in the background. Until then
// searches find them by those they have. Nothing is embedded.
//
// The words of a memory that was changed a moment ago may be on their way (write-later.ts). This node knows which it
// writes; where others share the store, such memories are left alone for a while.
import { nextTurn } from '../kernel/step-turns.ts'
import { SERVICE_CALLER, type Db, type Store } from '../store/db.ts'
import type { Ahead } from './index/analyse.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { OLD_WORDS } from './index/index-state.ts'

/** Memories written in one transaction: a millisecond or two for short ones. A long one ends the transaction. */
const TOGETHER = 16
const TOGETHER_CHARACTERS = 4_096
/** Words that follow a memory are written within a few seconds, unless their node has ended. */
const SETTLED_MS = 30_000
/** Batches of one run, so that other background work has its turn. */
const BATCHES = 64

interface OldRow {
  id: string
  agent_id: string
  version: number
  title: string
  content: string
}

/** Returns some memories of a tenant whose words older rules made, and that have not changed since `before`. */
const oldOnes = (db: Pick<Db, 'rows'>, tenantId: string, before: number): Promise<OldRow[]> =>
  db.rows<OldRow>(
    `select m.id, m.agent_id, r.version, m.title, m.content
       from memory_recall r join memories m on m.tenant_id = r.tenant_id and m.id = r.memory_id
      where r.tenant_id = ? and m.tenant_id = ? and r.${OLD_WORDS}
        and (r.word_rules > 0 or m.updated_at <= ?) limit ?`,
    [tenantId, tenantId, before, TOGETHER],
  )

function* groupsOf(rows: readonly OldRow[]): Generator<OldRow[]> {
  let group: OldRow[] = []
  let characters = 0
  for (const row of rows) {
    group.push(row)
    characters += row.title.length + row.content.length
    if (characters < TOGETHER_CHARACTERS) continue
    yield group
    group = []
    characters = 0
  }
  if (group.length > 0) yield group
}

/** Returns how many memories were written. */
export async function rewordMemories(
  store: Store,
  index: Pick<MemoryIndex, 'analyseAhead' | 'reword'>,
  now: number,
): Promise<number> {
  let written = 0
  // Tenants that have such memories, in any order: each has a turn before this run ends.
  const tenants = await store.rows<{ tenant_id: string }>(
    `select distinct tenant_id from memory_recall where ${OLD_WORDS} limit ?`,
    [BATCHES],
  )
  const turns = [...tenants]
  for (let batch = 0; batch < BATCHES && turns.length > 0; batch++) {
    const { tenant_id: tenantId } = turns.shift()!
    const rows = (await oldOnes(store, tenantId, store.isShared ? now - SETTLED_MS : now)).sort((a, b) =>
      a.id < b.id ? -1 : 1,
    ) // the order of locks
    for (const group of groupsOf(rows)) {
      const ahead: Ahead[] = []
      for (const { title, content } of group)
        ahead.push(await index.analyseAhead({ ...SERVICE_CALLER, tenantId }, title, content))
      await store.tx(async (tx) => {
        for (const row of group) if (await index.reword(tx, { ...row, tenant_id: tenantId }, row.version)) written++
      })
      for (const { written } of ahead) await written()
      await nextTurn()
    }
    if (rows.length === TOGETHER) turns.push({ tenant_id: tenantId })
  }
  return written
}
