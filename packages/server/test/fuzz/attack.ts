// The attack itself: callers of every kind, and requests until there have been enough of them. The test and the long run
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
/** The world is put right after so many requests, and at once after one that has set limits. */
const PUT_RIGHT_EVERY = 2_000
const document = openapi(Object.values(operations)) as never as OpenApi
/** Once for all parts of a run: to compile the schemas takes longer than a thousand requests. */
const judge = makeJudge(document)

/** The environment of a service that is attacked. */
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
  /** It ends after that many, however few requests it has sent. */
  seconds: number
  /** It sends no more than so many in a second, on a machine that has other things to do. */
  perSecond?: number
  /** How often each operation was answered with which status; added to. */
  counts: Counts
  /** Statuses that are fine whatever their body says. */
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
      // A kept connection may be closed by the other side just as it is used; a new one may not.
      if (!reply && !wire.timedOut()) reply = await wire.send(asked.bytes, { ...asked, fresh: true })
      // A machine that is busy with other things takes longer to publish than a publish may take. It says when to come
      // again; what is broken is still broken then.
      for (let tries = 0; tries < 5 && isTooBusy(reply); tries++) {
        await sleep(1000)
        reply = await wire.send(asked.bytes, asked)
      }
      if (reply) learn(world, templates, asked, reply)
      const name = asked.operation?.operationId ?? 'other'
      count1(counts, name, String(reply?.status ?? 'none'))
      const problem = reply && isFine(reply.status) ? null : judge(asked, reply)
      // The same fault of the same operation is told once.
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

/** How many responses had which status, of all operations together. */
export function byStatus(counts: Counts): string {
  const sums = new Map<string, number>()
  for (const statuses of counts.values())
    for (const [status, n] of statuses) sums.set(status, (sums.get(status) ?? 0) + n)
  return asList(sums)
}

/** A line for each operation: its statuses and how often. */
export const byOperation = (counts: Counts): string[] =>
  [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, statuses]) => `${name.padEnd(24)} ${asList(statuses)}`)

const asList = (statuses: Map<string, number>): string =>
  [...statuses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, n]) => `${status}: ${n}`)
    .join(', ')

/** Operations that never got as far as a success: what they do was not attacked. */
export const neverDone = (counts: Counts): string[] =>
  Object.keys(operations).filter((id) => ![...(counts.get(id)?.keys() ?? [])].some((status) => status.startsWith('2')))

/** The request as a person can read it: what is long or random in it is cut. */
const told = (number: number, bytes: Buffer, problem: string): string => {
  const text = JSON.stringify(bytes.toString('latin1'))
    .replace(/eyJ[\w.-]{50,}/g, '<token>')
    .replace(/(.{1,6}?)\1{30,}/g, '<$1 many times>')
  return `request ${number}: ${problem}\n${text.slice(0, 1500)}`
}

export const inFlight = async (url: string): Promise<number> =>
  Number(/^sensorium_http_in_flight (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])
