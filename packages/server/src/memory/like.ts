// Finds the memories that say nearly the same as a given one. The caller must see the given memory, and gets only
// memories it sees.
import type { Principal } from '../auth/principal.ts'
import type { JsonBody } from '../kernel/json-body.ts'
import type { Db } from '../store/db.ts'
import { requireMemory } from './get.ts'
import { seenBy } from './see.ts'
import type { Similar } from './similar.ts'
import { listMemoriesById } from './sql.ts'
import { jsonBody, type Reading } from './wire.ts'

export async function likeMemory(
  store: Db,
  similar: Similar,
  principal: Principal,
  id: string,
  { limit = 10 }: { limit?: number },
  { now, isBrief }: Reading,
): Promise<JsonBody> {
  const { title, content } = await requireMemory(store, principal, id, now)
  // One more, because the memory itself is among them.
  const found = await similar.find(principal, `${title}\n${content}`, limit + 1)
  const others = found.filter((one) => one.id !== id).slice(0, limit)
  const seen = seenBy(principal, now)
  const rows = new Map(
    (
      await listMemoriesById(
        store,
        seen,
        others.map((one) => one.id),
      )
    ).map((row) => [row.id, row]),
  )
  const items = others.flatMap(({ id: other, score }) => {
    const memory = rows.get(other)
    return memory ? [{ memory, before: '{"memory":', after: `,"score":${score}}` }] : []
  })
  return jsonBody(store, store, seen, { open: '{"results":[', items, close: () => ']}', isBrief })
}
