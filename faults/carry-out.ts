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

async function breakAll(plan: readonly Planned[], site: Site, workload: Workload): Promise<number> {
  let slowest = 0
  for (const { scenario, rounds } of plan) {
    for (let round = 0; round < rounds; round++) {
      await scenario.breakOnce(site, workload)
      const mended = performance.now()
      await workload.progress(1)
      slowest = Math.max(slowest, performance.now() - mended)
    }
  }
  return slowest
}

/** A sentence instead where this machine cannot do it. */
export async function carryOut(
  plan: readonly Planned[],
  engine: EngineName,
  options: { pushes: boolean },
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
    const slowest = await breakAll(plan, site, workload)
    await workload.stop()
    await workload.settle()
    const { sent, accepted, handed, acknowledged, dead_lettered, memories } = workload.ledger.totals()
    const broken = workload.ledger.broken()
    const row = {
      fault: plan.map(({ scenario }) => scenario.name).join(', '),
      engine,
      times: plan.reduce((sum, { rounds }) => sum + rounds, 0),
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
