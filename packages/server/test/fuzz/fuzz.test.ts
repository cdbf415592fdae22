// Thousands of requests, valid, nearly valid and hostile, to every route with every kind of caller. Whatever is sent,
// there is no 5xx but a rare 503, a request id on every response, the exact error envelope, and no success that its own
// schema does not describe. Every run sends the same requests, so that it fails only for what was changed. FUZZ_SEED
// and FUZZ_REQUESTS make another run, and scripts/fuzz.ts looks for unknown faults.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgres, POSTGRES_URL, sqlite, type Engine } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { startProcess } from '../support/process.ts'
import { attack, byStatus, ENVIRONMENT, neverDone, type Counts } from './attack.ts'
import { makeWorld } from './callers.ts'

/** A busy machine sends fewer requests, rather than running for ever. */
const MOST_SECONDS = 40
const SEED = 661_098_939

async function fuzz(engine: Engine, count: number, say: (text: string) => void): Promise<void> {
  const seed = Number(process.env['FUZZ_SEED'] ?? SEED)
  say(`FUZZ_SEED=${seed}`)
  const { env, drop } = await engine.fresh()
  const service = await startProcess({ ...env, ...ENVIRONMENT })
  try {
    const world = await makeWorld(service.url)
    const counts: Counts = new Map()
    const port = Number(new URL(service.url).port)
    const isFine = (status: number): boolean => status === 503
    const problems = await attack(port, world, { seed, count, seconds: MOST_SECONDS, counts, isFine })
    say(byStatus(counts))
    // On a machine that stalls for seconds the service refuses a few requests because it has too much in hand.
    const times = (status: string): number => [...counts.values()].reduce((sum, of) => sum + (of.get(status) ?? 0), 0)
    assert.ok(times('503') <= times('200') / 10, byStatus(counts))
    say(`never done: ${neverDone(counts).join(', ') || 'none'}`)
    const log = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
    // With its last output, in case the service died.
    assert.equal(
      problems.length + log.length,
      0,
      `\nFUZZ_SEED=${seed}\n\n${[...problems, ...log.slice(0, 3), service.output().slice(-1500)].join('\n\n')}\n`,
    )
    assert.equal(await inFlight(service.url), 1, 'every request that was taken is over')
    assert.equal((await service.stop()).code, 0)
  } finally {
    await service.stop()
    await drop()
  }
}

const requests = (fallback: number): number => Number(process.env['FUZZ_REQUESTS'] ?? fallback)

test('[HTTP-1][HTTP-3][STO-3] whatever is sent, the embedded service answers as documented', async (t) => {
  await fuzz(sqlite, requests(6_000), (text) => t.diagnostic(text))
})

test('[HTTP-1][HTTP-3][STO-3] whatever is sent, the service on PostgreSQL answers as documented', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
}, async (t) => {
  await fuzz(postgres, requests(3_000), (text) => t.diagnostic(text))
})
