// Traversal against a plain walk in memory, on random graphs with cycles, diamonds, parallel edges and memories that
// the viewer cannot see.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { DIRECTIONS, RELATIONSHIP_TYPES, type Direction } from '@sensorium/contract'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { maySee, type Viewer } from '../../src/memory/see.ts'
import { insertRelationship, type RelationshipRow } from '../../src/memory/relationships-sql.ts'
import { insertMemory, type MemoryRow } from '../../src/memory/sql.ts'
import { reachedFrom, type Reached } from '../../src/memory/traverse.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'
import { onBothEngines } from '../support/engines.ts'
import { START } from '../support/fake-clock.ts'
import { emptyStore, type OpenedStore } from '../support/store.ts'
import { memoryRow } from './memory-row.ts'

const VIEWER = { kind: 'agent', id: 'me', teamId: 'blue' } as const

interface Item {
  memory: string
  relationship: string
  depth: number
  strength: number
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const inOrder = (a: Item, b: Item): number =>
  a.depth - b.depth || b.strength - a.strength || compare(a.memory, b.memory) || compare(a.relationship, b.relationship)

/**
 * The rules in their simplest form: all paths of each length, then the best one to each memory that was not reached
 * before.
 */
function walk(
  memories: MemoryRow[],
  edges: RelationshipRow[],
  viewer: Viewer,
  start: string,
  depth: number,
  direction: Direction,
): Item[] {
  const seen = new Set(memories.filter((memory) => maySee(viewer, memory, START)).map(({ id }) => id))
  const steps = edges.flatMap(({ id, strength, source_memory_id: s, target_memory_id: t }) => [
    ...(direction !== 'in' ? [{ id, strength, from: s, to: t }] : []),
    ...(direction !== 'out' ? [{ id, strength, from: t, to: s }] : []),
  ])
  const stepsFrom = new Map<string, typeof steps>()
  for (const step of steps) stepsFrom.set(step.from, [...(stepsFrom.get(step.from) ?? []), step])
  const items: Item[] = []
  const reached = new Set([start])
  let paths: Item[] = [{ memory: start, relationship: '', depth: 0, strength: 1 }]
  for (let level = 1; level <= depth; level++) {
    paths = paths
      .flatMap((path) =>
        (stepsFrom.get(path.memory) ?? []).map((step) => ({
          memory: step.to,
          relationship: step.id,
          depth: level,
          strength: path.strength * step.strength,
        })),
      )
      .filter((path) => seen.has(path.memory) && !reached.has(path.memory))
      .sort(inOrder)
    for (const path of paths) {
      if (level === 1 || !reached.has(path.memory)) items.push(path)
      reached.add(path.memory)
    }
  }
  return items.sort(inOrder).slice(0, 1000)
}

const shown = (item: Reached): Item => ({
  memory: item.memory.id,
  relationship: item.relationship.id,
  depth: item.depth,
  strength: item.strength,
})

const entity = (tenant: string, id: string, more: Partial<MemoryRow> = {}): MemoryRow =>
  memoryRow({ tenant_id: tenant, agent_id: 'me', id }, START, { type: 'entity', ...more })

const edgeRow = (
  tenant: string,
  id: string,
  from: string,
  to: string,
  strength: number,
  type: RelationshipRow['relationship_type'] = 'supports',
): RelationshipRow => ({
  tenant_id: tenant,
  id,
  source_memory_id: from,
  target_memory_id: to,
  relationship_type: type,
  strength,
  metadata: null,
  created_by: 'me',
  created_at: START,
})

onBothEngines((engine) => {
  let opened: OpenedStore
  before(async () => {
    opened = await emptyStore(engine)
    await migrate(opened.store, START)
  })
  after(() => opened.drop())

  async function save(memories: MemoryRow[], edges: RelationshipRow[]): Promise<void> {
    await opened.store.tx(async (tx) => {
      await Promise.all(memories.map((row) => insertMemory(tx, row)))
      await Promise.all(edges.map((row) => insertRelationship(tx, row)))
    })
    // As a server does by itself after so many rows. Without statistics it joins page and memories row by row.
    if (opened.store.isShared && edges.length > 1_000)
      for (const table of ['memories', 'memory_relationships']) await opened.store.runAlone(`analyze ${table}`)
  }
  const reached = async (viewer: Viewer, start: string, depth: number, direction: Direction) =>
    (await reachedFrom(opened.store, viewer, start, depth, direction, START, nextTurn)).map(shown)

  test('[REL-8] [REL-9] [REL-10] [REL-11] [REL-13] [REL-15] the query agrees with a plain walk on every graph', async () => {
    // The viewer's own memories, memories of others with different scopes, and memories that are gone or hidden.
    const kinds: Partial<MemoryRow>[] = [
      {},
      {},
      {},
      { agent_id: 'you', scope: 'institutional' },
      { agent_id: 'you', scope: 'team', team_id: 'blue' },
      { agent_id: 'you' },
      { agent_id: 'you', scope: 'team', team_id: 'red' },
      { status: 'deleted' },
      { status: 'expired' },
      { expires_at: START },
      { expires_at: START + 1 },
    ]
    // Halves and quarters, so that different paths are often equally strong; and 0.
    const strength = fc.constantFrom(1, 0.5, 0.25, 0.3, 0, 1)
    const graph = fc.integer({ min: 2, max: 9 }).chain((size) =>
      fc.record({
        kinds: fc.array(fc.constantFrom(...kinds), { minLength: size, maxLength: size }),
        edges: fc.uniqueArray(
          fc.record({
            from: fc.nat(size - 1),
            to: fc.nat(size - 1),
            type: fc.constantFrom(...RELATIONSHIP_TYPES.slice(0, 2)),
            strength,
          }),
          { maxLength: 30, selector: (edge) => `${edge.from} ${edge.to} ${edge.type}` },
        ),
      }),
    )
    let round = 0
    await fc.assert(
      fc.asyncProperty(graph, async ({ kinds: chosen, edges: wanted }) => {
        const tenant = `t${++round}`
        const id = (i: number) => `mem_${i}`
        const memories = chosen.map((kind, i) => entity(tenant, id(i), i === 0 ? {} : kind))
        const edges = wanted
          .filter(({ from, to }) => from !== to)
          .map((edge, i) => edgeRow(tenant, `rel_${10 + i}`, id(edge.from), id(edge.to), edge.strength, edge.type))
        await save(memories, edges)
        for (const viewer of [
          { ...VIEWER, tenantId: tenant },
          { ...VIEWER, tenantId: tenant, kind: 'org_admin' as const, id: 'boss', teamId: null },
        ]) {
          for (const direction of DIRECTIONS) {
            for (const depth of [1, 2, 3]) {
              assert.deepEqual(
                await reached(viewer, id(0), depth, direction),
                walk(memories, edges, viewer, id(0), depth, direction),
                `${viewer.kind} ${direction} ${depth}`,
              )
            }
          }
        }
      }),
      { numRuns: 120 },
    )
  })

  test('[REL-8] strengths whose product underflows become 0, not a failure', async () => {
    const tenant = 'tiny'
    await save(
      ['a', 'b', 'c', 'd'].map((id) => entity(tenant, id)),
      [
        edgeRow(tenant, 'r1', 'a', 'b', 1e-200),
        edgeRow(tenant, 'r2', 'b', 'c', 1e-200),
        edgeRow(tenant, 'r3', 'c', 'd', 5e-324),
      ],
    )
    assert.deepEqual(
      (await reached({ ...VIEWER, tenantId: tenant }, 'a', 3, 'out')).map((item) => item.strength),
      [1e-200, 0, 0],
    )
  })

  test('[REL-12] at most 1000 items, the nearest and strongest of them', async () => {
    const tenant = 'wide'
    const viewer = { ...VIEWER, tenantId: tenant }
    const name = (i: number) => `mem_${String(i).padStart(5, '0')}`
    const strengthOf = (i: number) => ((i * 7919) % 10_007) / 10_007
    const memories = Array.from({ length: 2_501 }, (_, i) => entity(tenant, name(i)))
    // 0 → 1..600 → 601..1800, and 1 → 1801..2500 weakly.
    const edges = [
      ...Array.from({ length: 600 }, (_, i) => edgeRow(tenant, `rel_a${i}`, name(0), name(i + 1), strengthOf(i))),
      ...Array.from({ length: 1200 }, (_, i) =>
        edgeRow(tenant, `rel_b${i}`, name(1 + (i % 600)), name(601 + i), strengthOf(i * 3)),
      ),
      ...Array.from({ length: 700 }, (_, i) => edgeRow(tenant, `rel_c${i}`, name(601), name(1801 + i), 1)),
    ]
    await save(memories, edges)
    for (const depth of [1, 2, 3]) {
      const items = await reached(viewer, name(0), depth, 'out')
      assert.equal(items.length, [600, 1000, 1000][depth - 1])
      assert.deepEqual(items, walk(memories, edges, viewer, name(0), depth, 'out'))
    }
    const more = Array.from({ length: 1200 }, (_, i) =>
      edgeRow(tenant, `rel_d${i}`, name(2400), name(i), strengthOf(i)),
    )
    await save([], more)
    assert.deepEqual(
      await reached(viewer, name(2400), 3, 'out'),
      walk(memories, [...edges, ...more], viewer, name(2400), 1, 'out'),
    )
  })

  test('[REL-12] a dense graph is walked edge by edge, not path by path', async () => {
    // 90 memories, all related to all: five million paths of length three in both directions, 8010 relationships.
    const tenant = 'dense'
    const name = (i: number) => `mem_${String(i).padStart(3, '0')}`
    const memories = Array.from({ length: 90 }, (_, i) => entity(tenant, name(i)))
    const edges = memories.flatMap((_, i) =>
      memories.flatMap((__, j) => (i === j ? [] : [edgeRow(tenant, `rel_${i}_${j}`, name(i), name(j), 0.5)])),
    )
    await save(memories, edges)
    const items = await reached({ ...VIEWER, tenantId: tenant }, name(0), 3, 'both')
    assert.equal(items.length, 2 * 89)
    assert.ok(items.every((item) => item.depth === 1))
  })

  test('[REL-16] a large graph is walked a page at a time, with a turn for other requests after each', async () => {
    // 0 → 1..60, and each of those in two ways to 50 others: 6,060 relationships.
    const tenant = 'large'
    const viewer = { ...VIEWER, tenantId: tenant }
    const name = (i: number) => `mem_${String(i).padStart(5, '0')}`
    const strengthOf = (i: number) => ((i * 7919) % 10_007) / 10_007
    const memories = Array.from({ length: 3_061 }, (_, i) => entity(tenant, name(i), i % 50 ? {} : { scope: 'team' }))
    const edges = Array.from({ length: 60 }, (_, i) =>
      edgeRow(tenant, `rel_a${i}`, name(0), name(i + 1), strengthOf(i)),
    )
    for (let i = 0; i < 6_000; i++)
      edges.push(
        edgeRow(
          tenant,
          `rel_b${i}`,
          name(1 + (i % 60)),
          name(61 + ((i * 7) % 3_000)),
          strengthOf(i * 3),
          RELATIONSHIP_TYPES[Math.floor(i / 3_000)],
        ),
      )
    await save(memories, edges)
    // 1,500 more lead to 3, for which one page is not enough.
    for (let i = 0; i < 1_500; i++) edges.push(edgeRow(tenant, `rel_c${i}`, name(61 + i), name(3), strengthOf(i)))
    await save([], edges.slice(6_060))
    let longest = 0
    let inTurn = 0
    let turns = 0
    const db: Db = {
      ...opened.store,
      async rows<R>(sql: string, values?: readonly Value[]) {
        const rows = await opened.store.rows<R>(sql, values)
        longest = Math.max(longest, (inTurn += rows.length))
        return rows
      },
    }
    const pause = async (): Promise<void> => {
      turns++
      inTurn = 0
    }
    for (const [start, direction, least] of [
      [0, 'out', 9],
      [3, 'in', 3],
      [3, 'both', 3],
    ] as const) {
      turns = inTurn = 0
      const items = (await reachedFrom(db, viewer, name(start), 3, direction, START, pause)).map(shown)
      assert.deepEqual(items, walk(memories, edges, viewer, name(start), 3, direction))
      assert.ok(turns >= least, `${direction}: ${turns} turns`)
    }
    assert.ok(longest <= 2_500, `${longest} rows in one turn`)
  })
})
