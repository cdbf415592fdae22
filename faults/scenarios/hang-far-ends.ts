import { setTimeout as sleep } from 'node:timers/promises'
import { between, type Scenario } from '../scenario.ts'

/** Longer than the service waits for the response to a push. */
const HANGS_MS = 17_000

/** Endpoints that are pushed to and the embedding service take everything and answer nothing; the rest goes on. */
export const hangFarEnds: Scenario = {
  name: 'endpoints and the embedding service hang',
  engines: ['sqlite', 'postgres'],
  rounds: { long: 4, short: 0 },
  async breakOnce({ farEnds }, { progress }) {
    await progress(between(5, 60))
    farEnds.hang()
    await Promise.all([sleep(HANGS_MS), progress(100)])
    farEnds.mend()
  },
}
