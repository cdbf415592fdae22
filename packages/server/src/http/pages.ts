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
  /** Called with the Accept header: the root answers people and programs differently. */
  show(
    accept: string | undefined,
  ): Promise<{ status?: number; type?: string; headers?: Record<string, string>; body: string | Uint8Array }>
}

export function makePages({ store, metrics, operations, failing }: PageTools): Page[] {
  // Made for the first request, and as bytes: encoding the text again for a hundred requests at once took 0.2 s.
  let spec: Buffer | undefined

  return [
    // The process is up: nothing else is checked.
    { path: '/healthz', show: async () => ({ body: '{"status":"ok"}' }) },

    // Ready for traffic: the store responds and takes writes. Migrations ran before the port opened, and a node that is
    // shutting down responds with 503. Background work that fails is named but takes no traffic away: it would fail on
    // all nodes at once, and that would be an outage.
    {
      path: '/readyz',
      show: () =>
        store.ping().then(
          () => {
            const named = failing()
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
      show: async () => ({ body: (spec ??= Buffer.from(JSON.stringify(openapi(operations), null, 2) + '\n')) }),
    },

    ...makeDocsSite(operations),
  ]
}
