// Attacks with an ordinary key on memories.
import { inParallel } from '../far-ends.ts'
import { flood, get, memory, post, repeated, type Attack, type CallAsAttacker } from './attack.ts'

/** The most characters that a memory may have. */
const LONGEST = 32_768
/** So many different characters, from Chinese to Korean ones. */
const different = (count: number): string =>
  Array.from({ length: count }, (_, i) => String.fromCharCode(0x4e00 + i)).join('')

async function remember(call: CallAsAttacker, body: string): Promise<string> {
  const { id } = (await call('POST', '/v1/memories', JSON.parse(body))) as { id: string }
  return id
}

export const ON_MEMORIES: Readonly<Record<string, Attack>> = {
  'memories of ten megabytes': {
    run({ port, token }) {
      const sent = post('/v1/memories', token, memory('Large', `{"list":${repeated('[]', 9_000_000)}}`))
      return flood(port, 2, () => sent, { every: 1_000 })
    },
  },
  'memories of 32,768 different characters': {
    run({ port, token }) {
      const sent = post('/v1/memories', token, memory(different(LONGEST)))
      return flood(port, 8, () => sent, { every: 500 })
    },
  },
  'a thousand memories of different characters at once': {
    run({ port, token }) {
      // Just below 64 KiB, from which on bodies share a room.
      const sent = post('/v1/memories', token, memory(different(21_000)))
      return flood(port, 1_000, () => sent)
    },
  },
  'changes by four hundred clients': {
    async prepare(call, target) {
      target.memoryId = await remember(call, memory('Small'))
    },
    run({ port, token, memoryId }) {
      const sent = post(`/v1/memories/${memoryId}`, token, '{"importance":0.4}').replace('POST', 'PATCH')
      return flood(port, 400, () => sent, { every: 100 })
    },
  },
  'searches of 32,000 characters': {
    run({ port, token }) {
      const sent = post('/v1/memories/search', token, JSON.stringify({ query: 'many words here '.repeat(2_000) }))
      return flood(port, 24, () => sent, { every: 500 })
    },
  },
  'lists that look for repeated characters': {
    async prepare(call) {
      await inParallel(100, 4, async () => void (await remember(call, memory('a'.repeat(LONGEST)))))
    },
    run: ({ port, token }) =>
      flood(port, 24, () => get(`/v1/memories?search=${'a'.repeat(5_000)}b${'a'.repeat(5_000)}`, token), {
        every: 500,
      }),
  },
  'traversals of large metadata': {
    async prepare(call, target) {
      const large = memory('Large', `{"blob":"${'x'.repeat(1_000_000)}"}`)
      target.memoryId = await remember(call, large)
      for (let i = 0; i < 20; i++) {
        const target_memory_id = await remember(call, large)
        const relationship = {
          target_memory_id,
          relationship_type: 'related_to',
          metadata: { blob: 'x'.repeat(500_000) },
        }
        await call('POST', `/v1/memories/${target.memoryId}/relationships`, relationship)
      }
    },
    run: ({ port, token, memoryId }) =>
      flood(port, 8, () => get(`/v1/memories/${memoryId}/relationships?depth=3`, token), { every: 500 }),
  },
}
