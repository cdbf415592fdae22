// Running commands as somebody.
import { command } from '../support/process.ts'
import type { Service, TestTenant } from '../support/service.ts'

export const commandsOf = (env: () => Record<string, string>) => {
  const run = (...args: string[]) => command(args, env())
  return {
    run,
    async json(...args: string[]) {
      const { code, stdout, stderr } = await run(...args, '--json')
      return { code, body: JSON.parse(stdout || 'null'), stderr }
    },
  }
}

/** Commands with the key of an agent that is interested in everything. */
export async function listener(service: Service, tenant: TestTenant, home: Record<string, string>) {
  const agent = await tenant.agent()
  await service.call(`POST /v1/agents/${agent.id}/interests`, {
    token: agent.token,
    body: { event_type: '*', priority: 0, enrichment_depth: 'none' },
  })
  const env: Record<string, string> = { ...home, SENSORIUM_KEY: agent.key, SENSORIUM_URL: service.url }
  const queue = async () => (await service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })).body
  return { agent, env, queue, ...commandsOf(() => env) }
}
