// One scenario on one engine, from an empty store to the ledger's verdict.
import type { Scenario } from './scenario.ts'
import { startSite, type EngineName } from './site.ts'
import { startWorkload } from './workload.ts'

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

/** A sentence instead where this machine cannot do it. */
export async function carryOut(
  scenario: Scenario,
  engine: EngineName,
  rounds: number,
): Promise<{ row: Row; broken: string[] } | string> {
  const prepared = (await scenario.prepare?.()) ?? {}
  if (typeof prepared === 'string') return prepared
  const site = await startSite({ engine, ...prepared })
  try {
    const workload = await startWorkload(site.urls)
    let slowest = 0
    for (let round = 0; round < rounds; round++) {
      await scenario.breakOnce(site, workload)
      const mended = performance.now()
      await workload.progress(1)
      slowest = Math.max(slowest, performance.now() - mended)
    }
    await workload.stop()
    await workload.settle()
    const { sent, accepted, handed, acknowledged, dead_lettered, memories } = workload.ledger.totals()
    const broken = workload.ledger.broken()
    const row = {
      fault: scenario.name,
      engine,
      times: rounds,
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
    await site.stop()
    await prepared.drop?.()
  }
}
