import { between, type Scenario } from '../scenario.ts'

/** kill -9 at a random moment, and a new process in its place. */
export const killANode: Scenario = {
  name: 'a node is killed',
  engines: ['sqlite', 'postgres'],
  rounds: { long: 500, short: 2 },
  async breakOnce(site, workload) {
    await workload.progress(between(1, 30))
    await site.killNode(between(0, site.nodes - 1))
  },
}
