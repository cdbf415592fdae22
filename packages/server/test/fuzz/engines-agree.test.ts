// The same requests to a service on SQLite and to one on PostgreSQL, under one clock: every response is the same.
// FUZZ_SEED and FUZZ_REQUESTS make another run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openapi, operations } from '@sensorium/contract'
import { bootstrap } from '../../src/bootstrap.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { postgres, POSTGRES_URL, sqlite, type Engine } from '../support/engines.ts'
import { fakeClock, type FakeClock } from '../support/fake-clock.ts'
import { startService, type Service } from '../support/service.ts'
import { ENVIRONMENT } from './attack.ts'
import { makeWorld, type World } from './callers.ts'
import type { OpenApi } from './judge.ts'
import { learn } from './learn.ts'
import { random } from './random.ts'
import { makeAsk, targetsOf, type Asked } from './requests.ts'
import { makeSameReply } from './same-reply.ts'
import { openWire } from './wire.ts'

const SEED = 2
const REQUESTS = 1_500
const MOST_TOLD = 5
/** Tokens are valid for an hour. */
const LONGEST_MS = 50 * 60_000
/** Of a stream only the head is read: what it has leased by then is chance. */
const LEFT_TO_CHANCE = new Set(['streamDeliveries', 'streamLive'])
/** About the process, not about a tenant. */
const PROCESS = /^\/(?:metrics|readyz|healthz)/
const document = openapi(Object.values(operations)) as never as OpenApi

async function start(engine: Engine, clock: FakeClock): Promise<Service> {
  const service = await startService(engine, { ...ENVIRONMENT, LOG_LEVEL: 'silent' }, clock)
  const { store, config, secrets } = service
  await bootstrap(store, config, { makeId: idMaker(clock.now), secrets, now: clock.now })
  return service
}

/** What stands for the tokens and ids of one world in the other: both were made by the same calls. */
function* pairsOf(one: World, other: World): Generator<[string, string]> {
  for (const [i, { authorization }] of one.callers.entries()) {
    const its = other.callers[i]!.authorization
    if (authorization !== null && its !== null) yield [authorization, its]
  }
  const ids = [...other.untouchable]
  for (const [i, id] of [...one.untouchable].entries()) yield [id, ids[i]!]
}

/** Requests that do not depend on chance. Chunks may cut an id in two, which then stays that of the other world. */
const isComparable = ({ bytes, url, operation }: Asked): boolean =>
  !LEFT_TO_CHANCE.has(operation?.operationId ?? '') &&
  !PROCESS.test(url) &&
  !/wait=[1-9]/.test(url) &&
  !bytes.includes('Transfer-Encoding: chunked')

test('[STO-3] both engines respond alike to the same requests', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
}, async (t) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? SEED)
  const count = Number(process.env['FUZZ_REQUESTS'] ?? REQUESTS)
  const clock = fakeClock()
  const services: Service[] = []
  t.after(() => Promise.all(services.map((service) => service.stop())))
  for (const engine of [sqlite, postgres]) services.push(await start(engine, clock))
  // The other tenant is made later, so that their order is not by chance.
  clock.moveNow(1)
  const [world, other] = (await Promise.all(services.map(({ url }) => makeWorld(url)))) as [World, World]
  const ask = makeAsk(document, world)
  const templates = targetsOf(document).flatMap(({ path }) => (path.split('{').length > 2 ? [path] : []))
  const same = makeSameReply(pairsOf(world, other))
  const wires = services.map(({ url }) => openWire(Number(new URL(url).port)))
  const problems: string[] = []
  const began = clock.now()
  let succeeded = 0
  for (let n = 0; n < count && problems.length < MOST_TOLD && clock.now() < began + LONGEST_MS; n++) {
    const r = random(seed, n)
    const asked = ask(r)
    if (!isComparable(asked)) continue
    const bytes = [asked.bytes, same.forOther(asked.bytes)]
    const [reply = null, its = null] = await Promise.all(wires.map((wire, i) => wire.send(bytes[i]!, asked)))
    if (reply && reply.status < 300) succeeded++
    if (reply) learn(world, templates, asked, reply)
    // The signature of a webhook would be over the ids of one of them.
    world.webhooks.length = 0
    const found = same.difference(reply, its)
    if (found) problems.push(`request ${n}, ${asked.method} ${asked.url}: ${found}`)
    if (asked.operation?.operationId === 'updateTenantSettings') await Promise.all([world.putRight(), other.putRight()])
    await clock.rest()
    clock.moveNow(1 + r.int(n % 7 === 0 ? 2_000 : 5))
  }
  for (const wire of wires) wire.close()
  assert.deepEqual(problems, [], `FUZZ_SEED=${seed}`)
  t.diagnostic(`${succeeded} requests succeeded`)
  assert.ok(succeeded > count / 10, `${succeeded} of ${count} requests succeeded`)
})
