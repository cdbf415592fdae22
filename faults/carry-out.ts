// Scenarios on one engine, one after the other on one site: from an empty store to the ledger's verdict.
import type { Prepared, Scenario } from './scenario.ts'
import { startSite, type EngineName, type Site } from './site.ts'
import { startWorkload, type Workload } from './workload.ts'

export interface Row {
  fault: string
  engine: EngineName
  times: number
  accepted: number
  no_answer: number
  handed_out: number
  acknowledged: number
  dead_lettered: number
  memories: number
  /** From the moment in which it was mended until the next event was accepted, the slowest of all, in milliseconds. */
  back_after_ms: number
  broken: number
}

export interface Planned {
  scenario: Scenario
  rounds: number
}

export interface Options {
  pushes: boolean
  /** Called after each time that something broke. */
  onRound?(scenario: Scenario, round: number): void
  /** Asked before each: once it is true no more is broken, and the ledger judges what was. */
  isOver?(): boolean
}

async function breakAll(
  plan: readonly Planned[],
  site: Site,
  workload: Workload,
  { onRound, isOver }: Options,
): Promise<{ times: number; slowest: number }> {
  let [times, slowest] = [0, 0]
  for (const { scenario, rounds } of plan) {
    for (let round = 1; round <= rounds && !isOver?.(); round++) {
      await scenario.breakOnce(site, workload)
      const mended = performance.now()
      await workload.progress(1)
      slowest = Math.max(slowest, performance.now() - mended)
      times++
      onRound?.(scenario, round)
    }
  }
  return { times, slowest }
}

/** A sentence instead where this machine cannot do it. */
export async function carryOut(
  plan: readonly Planned[],
  engine: EngineName,
  options: Options,
): Promise<{ row: Row; broken: string[] } | string> {
  const prepared: Prepared[] = []
  let site: Site | null = null
  try {
    for (const { scenario } of plan) {
      const made = (await scenario.prepare?.()) ?? {}
      if (typeof made === 'string') return made
      prepared.push(made)
    }
    site = await startSite({
      ...Object.assign({}, ...prepared),
      env: Object.assign({}, ...prepared.map(({ env }) => env)),
      engine,
    })
    const workload = await startWorkload(site, options.pushes)
    const { times, slowest } = await breakAll(plan, site, workload, options)
    await workload.stop()
    await workload.settle()
    const { sent, accepted, handed, acknowledged, dead_lettered, memories } = workload.ledger.totals()
    const broken = workload.ledger.broken()
    const row = {
      fault: plan.map(({ scenario }) => scenario.name).join(', '),
      engine,
      times,
      accepted,
      no_answer: sent - accepted,
      handed_out: handed,
      acknowledged,
      dead_lettered,
      memories,
      back_after_ms: Math.round(slowest),
      broken: broken.length,
    }
    return { row, broken }
  } finally {
    await site?.stop()
    for (const { drop } of prepared) await drop?.()
  }
}
