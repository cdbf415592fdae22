// The attack itself: callers of every kind send requests until enough were sent. The test and the long run
// (`scripts/fuzz.ts`) share it.
import { setTimeout as sleep } from 'node:timers/promises'
import { openapi, operations } from '@sensorium/contract'
import { KEY, OPERATOR, type World } from './callers.ts'
import { makeJudge, type OpenApi } from './judge.ts'
import { learn } from './learn.ts'
import { random } from './random.ts'
import { makeAsk, targetsOf } from './requests.ts'
import { openWire, type WireReply } from './wire.ts'

const CONNECTIONS = 32
const MOST_PROBLEMS = 8
/** The world is put right after this many requests, and at once after one that has set limits. */
const PUT_RIGHT_EVERY = 2_000
const document = openapi(Object.values(operations)) as never as OpenApi
/** Made once for all parts of a run: compiling the schemas takes longer than a thousand requests. */
const judge = makeJudge(document)

/** The environment of the attacked service. */
export const ENVIRONMENT = {
  BOOTSTRAP_TENANT: 'acme',
  BOOTSTRAP_ADMIN_KEY: KEY,
  OPERATOR_TOKEN: OPERATOR,
  RATE_LIMIT_AGENT: 'off',
  RATE_LIMIT_TENANT: 'off',
  LOG_LEVEL: 'error',
}

export interface AttackOptions {
  seed: number
  count: number
  /** The attack ends after this time, however few requests it has sent. */
  seconds: number
  /** The most requests in a second, for a machine that has other work. */
  perSecond?: number
  /** How often each operation was answered with which status. The attack adds to it. */
  counts: Counts
  /** Whether a status is accepted with any body. */
  isFine?(status: number): boolean
}

export type Counts = Map<string, Map<string, number>>

export async function attack(
  port: number,
  world: World,
  { seed, count, seconds: mostSeconds, perSecond = Infinity, counts, isFine = () => false }: AttackOptions,
): Promise<string[]> {
  const ask = makeAsk(document, world)
  const templates = targetsOf(document)
    .map(({ path }) => path)
    .filter((path) => path.split('{').length > 2)
  const problems = new Map<string, string>()
  let next = 0
  const began = performance.now()
  const isOver = (): boolean =>
    next >= count || problems.size >= MOST_PROBLEMS || performance.now() > began + mostSeconds * 1000

  async function attacker(): Promise<void> {
    const wire = openWire(port)
    while (!isOver()) {
      const number = next++
      const early = (number / perSecond) * 1000 - (performance.now() - began)
      if (early > 0) await sleep(early)
      const asked = ask(random(seed, number))
      let reply = await wire.send(asked.bytes, asked)
      // A kept connection may be closed by the service just as it is used; a new one may not.
      if (!reply && !wire.timedOut()) reply = await wire.send(asked.bytes, { ...asked, fresh: true })
      // On a busy machine a publish may take longer than it is allowed to, and is refused with a time to retry; a real
      // fault is still there after the retries.
      for (let tries = 0; tries < 5 && isTooBusy(reply); tries++) {
        await sleep(1000)
        reply = await wire.send(asked.bytes, asked)
      }
      if (reply) learn(world, templates, asked, reply)
      const name = asked.operation?.operationId ?? 'other'
      count1(counts, name, String(reply?.status ?? 'none'))
      const problem = reply && isFine(reply.status) ? null : judge(asked, reply)
      // The same fault of the same operation is reported once.
      if (problem)
        problems.set(`${name} ${problem.replace(/\d+|req_\w+/g, '#').slice(0, 60)}`, told(number, asked.bytes, problem))
      const hasSetLimits = name === 'updateTenantSettings' && reply?.status === 200
      if (hasSetLimits || number % PUT_RIGHT_EVERY === PUT_RIGHT_EVERY - 1) await world.putRight()
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, attacker))
  return [...problems.values()]
}

const isTooBusy = (reply: WireReply | null): boolean =>
  reply?.status === 503 && reply.body.toString('latin1').includes('It could not be published in time')

function count1(counts: Counts, operation: string, status: string): void {
  let statuses = counts.get(operation)
  if (!statuses) counts.set(operation, (statuses = new Map()))
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
}

/** The number of responses by status, of all operations together. */
export function byStatus(counts: Counts): string {
  const sums = new Map<string, number>()
  for (const statuses of counts.values())
    for (const [status, n] of statuses) sums.set(status, (sums.get(status) ?? 0) + n)
  return asList(sums)
}

/** A line for each operation with the counts of its statuses. */
export const byOperation = (counts: Counts): string[] =>
  [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, statuses]) => `${name.padEnd(24)} ${asList(statuses)}`)

const asList = (statuses: Map<string, number>): string =>
  [...statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${status}: ${n}`)
    .join(', ')

/** Operations that never succeeded, so that their effects were not attacked. */
export const neverDone = (counts: Counts): string[] =>
  Object.keys(operations).filter((id) => ![...(counts.get(id)?.keys() ?? [])].some((status) => status.startsWith('2')))

/** The request in readable form: long and random parts are shortened. */
const told = (number: number, bytes: Buffer, problem: string): string => {
  const text = JSON.stringify(bytes.toString('latin1'))
    .replace(/eyJ[\w.-]{50,}/g, '<token>')
    .replace(/(.{1,6}?)\1{30,}/g, '<$1 many times>')
  return `request ${number}: ${problem}\n${text.slice(0, 1500)}`
}
