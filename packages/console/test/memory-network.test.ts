// The graph of memories as it grows, and the filters in a URL.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import type { Memory, RelatedMemory } from '@sensorium/client'
import { MAX_TRAVERSED } from '@sensorium/contract'
import { countOfRelated, MOST_RELATED } from '../src/pages/memory/most-related.ts'
import { listQuery, searchBody } from '../src/pages/memory/filters.ts'
import {
  degrees,
  edgesOf,
  EMPTY,
  MOST_NODES,
  withExpanded,
  withMemories,
  withRelated,
} from '../src/pages/memory/graph/network.ts'

const memory = (id: string): Memory => ({ id, title: id, content: id }) as Memory
const related = (from: string, to: string, strength = 1): RelatedMemory =>
  ({
    memory: memory(to),
    relationship: { id: `${from}-${to}`, source_memory_id: from, target_memory_id: to, strength },
    depth: 1,
    cumulative_strength: strength,
  }) as RelatedMemory

describe('the graph of memories', () => {
  test('[UI-52] an expanded memory adds its relationships, the strongest first, each once', () => {
    const begun = withMemories(EMPTY, [memory('a')])
    const grown = withExpanded(begun, 'a', [related('a', 'b', 0.2), related('c', 'a', 0.9), related('a', 'c')])
    const again = withExpanded(grown, 'a', [related('a', 'b', 0.2)])
    assert.deepEqual([...begun.nodes.keys()], ['a'], 'what was there is as it was')
    assert.deepEqual(
      edgesOf(again, 'a').map(({ id }) => id),
      ['a-c', 'c-a', 'a-b'],
    )
    assert.deepEqual([...degrees(again)].sort(), [
      ['a', 3],
      ['b', 1],
      ['c', 2],
    ])
    assert.equal(again.nodes.get('a')!.isExpanded, true)
    assert.equal(again.nodes.get('b')!.isExpanded, false)
  })

  test('[UI-52] over 500 memories the rest is counted and left out, with its relationships', () => {
    const many = Array.from({ length: MOST_NODES + 20 }, (_, index) => related('start', `m${index}`))
    const network = withRelated(withMemories(EMPTY, [memory('start')]), many)
    assert.equal(MOST_NODES, 500)
    assert.equal(network.nodes.size, MOST_NODES)
    assert.equal(network.leftOut.size, 21)
    assert.equal(network.edges.size, MOST_NODES - 1)
  })

  test('[UI-52] a memory is whole once all of its relationships are shown: none is left out, and the answer not cut', () => {
    const begun = withMemories(EMPTY, [memory('hub')])
    const to = (count: number, of = count) =>
      Array.from({ length: count }, (_, index) => ({
        ...related('hub', `m${index % of}`),
        relationship: { ...related('hub', `m${index % of}`).relationship, id: `r${index}` },
      }))
    const small = withExpanded(begun, 'hub', to(MOST_NODES - 1))
    assert.deepEqual([small.nodes.get('hub')!.isWhole, small.isCut], [true, false])
    const large = withExpanded(begun, 'hub', to(MOST_NODES))
    assert.deepEqual([large.nodes.get('hub')!.isWhole, large.isCut, large.leftOut.size], [false, false, 1])
    assert.equal(large.nodes.get('hub')!.isExpanded, true, 'there is nothing more to fetch')
    assert.equal(MOST_RELATED, MAX_TRAVERSED)
    const cut = withExpanded(begun, 'hub', to(MOST_RELATED, 10))
    assert.deepEqual([cut.nodes.get('hub')!.isWhole, cut.isCut, cut.leftOut.size], [false, true, 0])
    assert.equal(countOfRelated(999), '999')
    assert.equal(countOfRelated(1_000), `${(1_000).toLocaleString()}+`)
  })
})

describe('the filters of memories', () => {
  test('[UI-50] a day ends where the next begins, also when clocks change', () => {
    // In a process of its own: the time zone belongs to the process.
    const filters = new URL('../src/pages/memory/filters.ts', import.meta.url).href
    const code = `import { dayOf } from ${JSON.stringify(filters)}
      console.log(['2026-10-25', '2026-03-29', '2026-12-31'].map((day) => dayOf(day, 1)).join())`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
      env: { ...process.env, TZ: 'Europe/Berlin' },
      encoding: 'utf8',
    })
    assert.equal(stdout.trim(), '2026-10-25T23:00:00.000Z,2026-03-29T22:00:00.000Z,2026-12-31T23:00:00.000Z')
  })

  test('[UI-50] the URL holds the filters, a day is a whole day, and invalid values are left out', () => {
    const address = { scope: 'team', type: 'nonsense', after: '2026-03-01', before: '2026-03-01', status: 'deleted' }
    const { created_after, created_before, ...query } = listQuery(address)
    assert.deepEqual(query, { scope: 'team', status: 'deleted' })
    assert.equal(Date.parse(created_before!) - Date.parse(created_after!), 86_400_000)
    assert.equal(new Date(created_after!).getHours(), 0)
    const body = searchBody('too hot', { ...address, after: 'yesterday', before: '2026-99-99', project: 'p' })
    assert.deepEqual(body, { query: 'too hot', scope: 'team', project_id: 'p', limit: 50, explain: true })
  })
})
