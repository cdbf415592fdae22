// Asks the service of this environment about its state, if one runs here: only the process itself knows that its store
// refuses writes or that its background work fails.
import type { Config } from '../../config.ts'
import type { Failing } from '../../kernel/loop.ts'

/** A machine that is very busy takes seconds. */
const ANSWER_WITHIN_MS = 10_000

/** The response of /readyz, in success or in failure. */
interface ReadyzResponse {
  status?: string
  failing?: Failing[]
  error?: { message?: string }
}

const isConnectionRefused = (error: unknown): boolean =>
  ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'

export async function examineService(
  { host, port }: Pick<Config, 'host' | 'port'>,
  { hasStore = true, withinMs = ANSWER_WITHIN_MS } = {},
): Promise<{ ok: boolean; detail: string }> {
  if (port === 0) return { ok: true, detail: 'not asked: PORT is 0' }
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  const address = `${name}:${port}`
  const limit = AbortSignal.timeout(withinMs)
  let answer: ReadyzResponse
  try {
    const response = await fetch(`http://${address}/readyz`, { signal: limit })
    answer = ((await response.json().catch(() => null)) as ReadyzResponse | null) ?? {}
  } catch (error) {
    if (isConnectionRefused(error)) return { ok: true, detail: `none at ${address}, which HOST and PORT name` }
    if (!limit.aborted) return { ok: true, detail: `something else at ${address}` }
    return {
      ok: false,
      detail: `${address} takes a connection and does not respond within ${withinMs / 1000} s`,
    }
  }
  if (answer.error) return { ok: false, detail: `${address} is not ready: ${answer.error.message}` }
  if (answer.status !== 'ready') return { ok: true, detail: `something else at ${address}` }
  // Nothing of what the other checks examined is what this service uses.
  if (!hasStore)
    return {
      ok: false,
      detail: `one is ready at ${address}, with another store: set DATA_DIR or DATABASE_URL as the service has it`,
    }
  const failing = (answer.failing ?? []).map(({ loop, rounds, seconds }) => `${loop} (${rounds} times in ${seconds} s)`)
  return failing.length === 0
    ? { ok: true, detail: `ready at ${address}` }
    : { ok: false, detail: `${address} is ready, but fails at: ${failing.join(', ')}` }
}
