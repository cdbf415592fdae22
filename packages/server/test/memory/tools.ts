// Helpers that the memory tests share.
import assert from 'node:assert/strict'
import type {
  CreatedMemory,
  ImportedMemories,
  Memory,
  RelatedMemory,
  Relationship,
  SearchResult,
} from '@sensorium/contract'
import { atOnce } from '../../src/kernel/step-turns.ts'
import { wordSteps, type Word } from '../../src/memory/index/terms.ts'
import { callOf, type Reply, type Service, type TestTenant } from '../support/service.ts'

export interface Actor {
  token: string
  id: string
}

export async function orgAdmin(service: Service, tenant: TestTenant): Promise<Actor> {
  const [row] = await service.store.rows<{ id: string }>('select id from org_admins where tenant_id = ?', [tenant.id])
  return { token: tenant.admin, id: row!.id }
}

/** A memory with only the required fields. */
export const aMemory = { type: 'semantic', scope: 'agent', title: 'A title', content: 'Some content' } as const

export function memoryCalls(service: Pick<Service, 'call'>) {
  const call = callOf(service)
  const calls = {
    post: (by: Actor, body: object) =>
      call<Memory>('POST /v1/memories', { token: by.token, body: { ...aMemory, ...body } }),
    /** Creates a memory and returns it. */
    async make(by: Actor, body: object = {}): Promise<Memory> {
      const reply = await calls.post(by, body)
      assert.equal(reply.status, 201, reply.text)
      // `similar` is part of the response, but not of the memory.
      const { similar: _, ...memory } = reply.body as CreatedMemory
      return memory
    },
    get: (by: Actor, id: string) => call<Memory>(`GET /v1/memories/${id}`, { token: by.token }),
    patch: (by: Actor, id: string, body: object) => call<Memory>(`PATCH /v1/memories/${id}`, { token: by.token, body }),
    forget: (by: Actor, id: string) => call(`DELETE /v1/memories/${id}`, { token: by.token }),
    promote: (by: Actor, id: string, body: object) =>
      call<Memory>(`POST /v1/memories/${id}/promote`, { token: by.token, body }),
    async list(by: Actor, query: Record<string, string> = {}): Promise<{ memories: Memory[]; total: number }> {
      const reply = await call<{ memories: Memory[]; total: number }>(
        `GET /v1/memories?${new URLSearchParams(query)}`,
        { token: by.token },
      )
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async search(by: Actor, query: string, more: object = {}): Promise<SearchResult[]> {
      const body = { query, ...more }
      const reply = await call<{ results: SearchResult[]; total: number }>('POST /v1/memories/search', {
        token: by.token,
        body,
      })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.total, reply.body.results.length)
      return reply.body.results
    },
    relate: (by: Actor, from: string, to: string, more: object = {}): Promise<Reply<Relationship>> =>
      call(`POST /v1/memories/${from}/relationships`, {
        token: by.token,
        body: { target_memory_id: to, relationship_type: 'supports', ...more },
      }),
    async related(by: Actor, id: string, query = ''): Promise<RelatedMemory[]> {
      const reply = await call<{ relationships: RelatedMemory[]; count: number }>(
        `GET /v1/memories/${id}/relationships${query}`,
        { token: by.token },
      )
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(Object.keys(reply.body).sort(), ['count', 'relationships'])
      assert.equal(reply.body.count, reply.body.relationships.length)
      return reply.body.relationships
    },
    unrelate: (by: Actor, from: string, id: string) =>
      call(`DELETE /v1/memories/${from}/relationships/${id}`, { token: by.token }),
    importLines: (by: { token: string }, lines: string | readonly object[], headers: Record<string, string> = {}) =>
      call<ImportedMemories>('POST /v1/memories/import', {
        token: by.token,
        headers: { 'content-type': 'application/x-ndjson', ...headers },
        raw: typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n'),
      }),
    /** Imports lines. Returns how many were created, updated, skipped and refused, and the refusals. */
    async imported(by: { token: string }, lines: string | readonly object[]) {
      const reply = await calls.importLines(by, lines)
      assert.equal(reply.status, 200, reply.text)
      const { errors, ...counts } = reply.body
      return { counts: Object.values(counts), errors }
    },
    async exported(by: Actor, query = ''): Promise<string> {
      const reply = await call(`GET /v1/memories/export${query}`, { token: by.token })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.headers.get('content-type'), 'application/x-ndjson')
      return reply.text
    },
  }
  return calls
}

export const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id)

export const titlesOf = (results: readonly SearchResult[]): string[] => results.map(({ memory }) => memory.title)

/** Returns the words of a stored text. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  atOnce(wordSteps(text, (word) => void words.push(word)))
  return words
}

/** Counts the turns of the event loop that passed during `work`. */
export async function turnsBeside<T>(work: Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0
  let over = false
  const others = (async () => {
    for (; !over; turns++) await new Promise(setImmediate)
  })()
  const result = await work
  over = true
  await others
  return { turns, result }
}

/** As many different characters as a content may have. */
export const everyCharacter = Array.from({ length: 32_768 }, (_, i) =>
  String.fromCodePoint(i < 20_000 ? 0x4e00 + i : 0x20000 + i),
).join('')
