// The unversioned addresses: health, metrics, the OpenAPI document and the documentation.
import { openapi } from '@sensorium/contract'
import type { Operation } from '@sensorium/contract'
import type { Store } from '../store/db.ts'
import { unavailable } from '../kernel/failure.ts'
import type { Failing } from '../kernel/loop.ts'
import { makeDocsSite } from '../docs-site/site.ts'
import type { Spec } from '../docs-site/spec.ts'
import type { Metrics } from './metrics.ts'
import { once, type Page } from './page.ts'

interface PageTools {
  store: Store
  metrics: Metrics
  operations: readonly Operation[]
  /** Background work that has failed for a while. */
  failing(): Failing[]
}

export function makePages({ store, metrics, operations, failing }: PageTools): Page[] {
  let made: Spec | undefined
  const spec = (): Spec => (made ??= openapi(operations) as never as Spec)
  const document = once(() => JSON.stringify(spec(), null, 2) + '\n')

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

    { path: '/openapi.json', show: async () => ({ body: await document() }) },

    ...makeDocsSite(spec),
  ]
}
