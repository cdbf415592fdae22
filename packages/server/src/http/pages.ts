// The unversioned addresses: health, metrics, the OpenAPI document and the rendered reference.
import { openapi } from '@sensorium/contract'
import type { FastifyInstance } from 'fastify'
import type { Operation } from '@sensorium/contract'
import type { Store } from '../store/db.ts'
import { docsPage } from './docs-page.ts'
import type { Metrics } from './metrics.ts'

export interface PageTools {
  store: Store
  metrics: Metrics
  operations: readonly Operation[]
}

// prom-client writes `Nan` where nothing was measured since the last look; the format knows `NaN`.
const asPrometheusReads = (text: string): string => text.replaceAll(' Nan\n', ' NaN\n')

export function addPages(app: FastifyInstance, { store, metrics, operations }: PageTools): void {
  // Made when somebody first looks.
  let specText: string | undefined
  let page: string | undefined

  // The process is up: nothing else is asked.
  app.get('/healthz', async () => ({ status: 'ok' }))

  // Traffic may come: the store answers. Migrations ran before the port opened, and a node on its way out answers nothing but 503.
  app.get('/readyz', async (_request, reply) => {
    try {
      await store.ping()
      return { status: 'ready' }
    } catch {
      return reply.code(503).header('retry-after', '1').send({ status: 'store_unreachable' })
    }
  })

  app.get('/metrics', async (_request, reply) => reply.type(metrics.registry.contentType).send(asPrometheusReads(await metrics.registry.metrics())))

  app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send((specText ??= JSON.stringify(openapi(operations), null, 2) + '\n')))

  app.get('/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
      })
      .send((page ??= docsPage(openapi(operations)))),
  )
}
