// Shares a memory more widely. A scope only widens: agent, then team, then institutional. A team is never replaced by
// another.
import type { MemoryPromote, MemoryScope, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { invalid, ruleBroken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { holdMemory } from './get.ts'
import type { MemoryTools } from './remember.ts'
import type { MemoryRow } from './sql.ts'
import { timeOfChange } from './versions.ts'
import { writeChange } from './write-change.ts'

type Promotion = Static<typeof MemoryPromote>

interface Audience {
  scope: MemoryScope
  team_id: string | null
}

const WIDTH: Record<MemoryScope, number> = { agent: 0, team: 1, institutional: 2 }

/** Decides whether a change of scope and team is a promotion. Pure. */
export function compareAudience(from: Audience, to: Audience): 'widens' | 'same' | 'refused' {
  if (from.scope === to.scope && from.team_id === to.team_id) return 'same'
  return WIDTH[to.scope] > WIDTH[from.scope] ? 'widens' : 'refused'
}

function audienceOf({ scope, team_id = null }: Promotion): Audience {
  if (scope === 'team' && team_id === null) {
    throw invalid({
      field: 'team_id',
      value: team_id,
      expected: 'the team to promote to (required with scope team)',
      example: 'team-blue',
    })
  }
  if (scope === 'institutional' && team_id !== null) {
    throw invalid({
      field: 'team_id',
      value: team_id,
      expected: 'nothing: an institutional memory has no team',
      example: null,
    })
  }
  return { scope, team_id: team_id?.toWellFormed() ?? null }
}

/** Throws unless the memory may have this scope and team. */
export function requireWider({ id, scope, team_id }: MemoryRow, to: Audience): void {
  if (compareAudience({ scope, team_id }, to) !== 'refused') return
  const from = scope === 'team' ? `the team ${team_id}` : `the scope ${scope}`
  throw ruleBroken('scope_only_widens', `This memory has ${from}; promoting goes to a wider scope only`, {
    memory_id: id,
    scope,
    team_id,
  })
}

export async function promoteMemory(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index' | 'quotas'>,
  principal: Principal,
  id: string,
  wanted: Promotion,
): Promise<MemoryRow> {
  const now = tools.now()
  const to = audienceOf(wanted)
  const row = await holdMemory(tx, principal, id, now)
  requireWider(row, to)
  if (compareAudience(row, to) === 'same') return row
  const promoted = { ...row, ...to, updated_at: timeOfChange(row, now) }
  return writeChange(tx, tools, principal.id, row, promoted, now)
}
