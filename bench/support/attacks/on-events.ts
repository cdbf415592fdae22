// Attacks with an ordinary key on what events go through: publishing, interests, filters and acknowledgements.
import { randomBytes } from 'node:crypto'
import { inParallel } from '../far-ends.ts'
import {
  event,
  flood,
  interest,
  post,
  repeated,
  type Attack,
  type CallAsAttacker,
  type Done,
  type Target,
} from './attack.ts'

/** A filter of some forty thousand steps over eighty numbers; each filter has a text of its own. */
const costly = (i: number): string =>
  `data.list.exists(a, data.list.exists(b, a + b == ${-1 - i}) && a > 10) || ${i} == 0`

/** Filters whose work is in a single call: a long text, a large map, a text that almost matches. */
const oneCall = (i: number): string =>
  [
    `data.list.exists(a, data.texts.join(string(a)) == "${i}")`,
    `data.list.exists(a, data.numbers.transformMap(j, v, string(v) + "${i}") == {})`,
    `data.texts.exists(t, t.matches("(a|aa)*(b|ab)*c${i}$"))`,
  ][i % 3]!

/** Costs little to evaluate, but has a regular expression of its own. */
const ofRegularExpression = (i: number): string => `data.text.matches("^(order|offer)-[0-9]{1,8}-[a-z]*${i}$")`

const LIST = { list: Array.from({ length: 80 }, (_, i) => i) }
const TEXTS = {
  ...LIST,
  numbers: Array.from({ length: 2_000 }, (_, i) => i),
  texts: Array<string>(50).fill('a'.repeat(400)),
}
const ORDER = { text: 'order-12345678-abcdefghijklmnopqrstuvwxyz' }

async function createInterests(
  call: CallAsAttacker,
  agentId: string,
  count: number,
  filter: (i: number) => string,
): Promise<void> {
  await inParallel(count, 8, async (i) => {
    await call('POST', `/v1/agents/${agentId}/interests`, interest('attack.*', filter(i)))
  })
}

function publishBatches({ port, token }: Target, data: unknown): () => Done {
  const type = 'application/cloudevents-batch+json'
  const text = JSON.stringify(data)
  const batch = (): string => `[${Array.from({ length: 20 }, () => event(text)).join(',')}]`
  return flood(port, 4, () => post('/v1/events', token, batch(), '', type), { every: 500 })
}

let created = 0

export const ON_EVENTS: Readonly<Record<string, Attack>> = {
  'events of a megabyte of {}': {
    run: ({ port, token }) =>
      flood(port, 4, () => post('/v1/events', token, event(repeated('{}', 1_000_000))), { every: 250 }),
  },
  'four hundred costly filters': {
    prepare: (call, { agentId }) => createInterests(call, agentId, 400, costly),
    run: (target) => publishBatches(target, LIST),
  },
  'filters whose work is in one call': {
    prepare: (call, { agentId }) => createInterests(call, agentId, 400, oneCall),
    run: (target) => publishBatches(target, TEXTS),
  },
  'two thousand regular expressions': {
    prepare: (call, { agentId }) => createInterests(call, agentId, 2_000, ofRegularExpression),
    run: (target) => publishBatches(target, ORDER),
  },
  'interests created by four hundred clients': {
    run({ port, token, agentId }) {
      const next = (): string => JSON.stringify(interest(`attack.n${created++}.*`, costly(created)))
      return flood(port, 400, () => post(`/v1/agents/${agentId}/interests`, token, next()), { every: 100 })
    },
  },
  'backfill by eight interests': {
    async prepare(call) {
      const text = 'x'.repeat(500_000)
      for (let i = 0; i < 100; i++) await call('POST', '/v1/events', JSON.parse(event(`{"text":"${text}"}`)))
    },
    run({ port, token, agentId }) {
      const next = (): string =>
        JSON.stringify({
          ...interest('attack.*', `data.text.contains("${'x'.repeat(2_000)}y${created++}")`),
          backfill: 1_000,
        })
      return flood(port, 8, () => post(`/v1/agents/${agentId}/interests`, token, next()), { every: 500 })
    },
  },
  'acknowledgements of a hundred ids': {
    run({ port, token }) {
      const ids = Array.from({ length: 100 }, () => `"dlv_${randomBytes(13).toString('hex')}"`)
      const sent = post('/v1/delivery/ack', token, `{"delivery_ids":[${ids.join()}]}`)
      return flood(port, 64, () => sent, { every: 100 })
    },
  },
}
