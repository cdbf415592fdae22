// /operator/connectors
import { operations } from '@sensorium/contract'
import { createConnector } from '../ingest/connectors/create.ts'
import { deleteConnector } from '../ingest/connectors/delete.ts'
import { listConnectors } from '../ingest/connectors/list.ts'
import { pauseConnector } from '../ingest/connectors/pause.ts'
import type { IngestTools } from '../ingest/registration.ts'
import { read, write, type Binding } from './binding.ts'
import { noContent, ok } from './response.ts'

export const connectorOperations = (tools: IngestTools): Binding[] => [
  write(operations.createConnector, async ({ body }, tx) => {
    const json = await createConnector(tx, tools, body)
    return { status: 201, json, resourceId: json.connector.id }
  }),

  read(operations.listConnectors, async ({ query }, db) => ok(await listConnectors(db, tools.now(), query))),

  write(operations.pauseConnector, async ({ params }, tx) => ok(await pauseConnector(tx, tools, params.id, true))),

  write(operations.resumeConnector, async ({ params }, tx) => ok(await pauseConnector(tx, tools, params.id, false))),

  write(operations.deleteConnector, async ({ params }, tx) => {
    await deleteConnector(tx, tools, params.id)
    return noContent()
  }),
]
