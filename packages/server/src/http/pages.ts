// The unversioned addresses: health, metrics, the OpenAPI document and the documentation.
import { openapi } from '@sensorium/contract'
import type { Operation } from '@sensorium/contract'
import type { Store } from '../store/db.ts'
import { unavailable } from '../kernel/failure.ts'
import type { Failing } from '../kernel/loop.ts'
import { makeDocsSite } from '../docs-site/site.ts'
import type { Metrics } from './metrics.ts'

export interface PageTools {
  store: Store
  metrics: Metrics
  operations: readonly Operation[]
  /** Background work that has failed for a while. */
  failing(): Failing[]
}

export interface Page {
  path: string
  /** Is told the Accept header: the root answers people and programs differently. */
  show(
    accept: string | undefined,
  ): Promise<{ status?: number; type?: string; headers?: Record<string, string>; body: string | Uint8Array }>
}

export function makePages({ store, metrics, operations, failing }: PageTools): Page[] {
  // Made when somebody first looks.
  let specText: string | undefined

  return [
    // The process is up: nothing else is asked.
    { path: '/healthz', show: async () => ({ body: '{"status":"ok"}' }) },

    // Traffic may come: the store answers and takes writes. Migrations ran before the port opened, and a node on its way
    // out answers nothing but 503. Background work that fails is named and takes no traffic away: on all nodes at once,
    // as it would be, that would make an outage of it.
    {
      path: '/readyz',
      show: () =>
        store.ping().then(
          () => {
            const named = failing().map(({ loop, rounds, seconds }) => ({ loop, rounds, seconds }))
            return { body: JSON.stringify({ status: 'ready', ...(named.length > 0 ? { failing: named } : {}) }) }
          },
          () => Promise.reject(unavailable('The store cannot be reached or takes no writes')),
        ),
    },

    {
      path: '/metrics',
      show: async () => {
        const { type, text } = await metrics.show()
        return { type, body: text }
      },
    },

    {
      path: '/openapi.json',
      show: async () => ({ body: (specText ??= JSON.stringify(openapi(operations), null, 2) + '\n') }),
    },

    ...makeDocsSite(operations),
  ]
}
