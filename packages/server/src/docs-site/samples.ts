// Sample requests for curl and the TypeScript client, made from the examples in openapi.json.
import { parametersOf, type Media, type ListedOperation, type Spec } from './spec.ts'

/** Replaced by the page's own origin if scripts run. */
const ORIGIN = 'http://localhost:8080'

const isName = (key: string): boolean => /^[A-Za-z_$][\w$]*$/.test(key)

/** Returns a value as a programmer would write it. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const deeper = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, deeper))
    : Object.entries(value).map(([key, item]) => `${isName(key) ? key : `'${key}'`}: ${literal(item, deeper)}`)
  const [open, close, pad] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' ']
  if (parts.length === 0) return open + close
  const line = `${open}${pad}${parts.join(', ')}${pad}${close}`
  return line.length <= 64 && !line.includes('\n')
    ? line
    : `${open}\n${parts.map((part) => `${deeper}${part},\n`).join('')}${indent}${close}`
}

interface Request {
  params: Record<string, unknown>
  query: Record<string, unknown>
  media: string | undefined
  body: unknown
}

/** Returns the path parameters, the query parameters that are required or instructive (`wait`), and the body. */
function requestOf({ operation }: ListedOperation, spec: Spec): Request {
  const parameters = parametersOf(operation, spec)
  const take = (place: string): Record<string, unknown> =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place && (parameter.required || parameter.name === 'wait'))
        .map(({ name, schema }) => [name, schema.examples?.[0] ?? schema.enum?.[0] ?? 'text']),
    )
  const [media, listed] = (Object.entries(operation.requestBody?.content ?? {})[0] ?? []) as [string?, Media?]
  return { params: take('path'), query: take('query'), media, body: listed?.example }
}

const isSigned = ({ path }: ListedOperation): boolean => path.startsWith('/ingest/')

export function curlOf(listed: ListedOperation, spec: Spec): string {
  const { method, path, operation } = listed
  const { params, query, media, body } = requestOf(listed, spec)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]))
  const search = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString()
  const url = `${ORIGIN}${filled}${search === '' ? '' : `?${search}`}`
  const lines = [`curl '${url}'`]
  if (method !== 'get' && !(method === 'post' && media !== undefined)) lines.push(`-X ${method.toUpperCase()}`)
  if (operation.operationId === 'streamDeliveries') lines.push('--no-buffer')
  if (operation.security.length > 0) lines.push('-H "authorization: Bearer $TOKEN"')
  if (isSigned(listed)) lines.push('-H "x-service-signature: sha256=$SIGNATURE"')
  if (media !== undefined) {
    lines.push(`-H 'content-type: ${media}'`)
    lines.push(`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`)
  }
  return lines.join(' \\\n  ')
}

/** The client's own methods for common operations. Every other operation is called by its id. */
const CALLS: Record<string, string> = {
  publishEvent: "await client.publish({ type: 'com.example.order.created', data: { total: 120 } })",
  getEvent: "await client.events.get('order-1-created')",
  pollDeliveries: `const worker = client.worker({
  async handle({ event, client }) {
    // Returning acknowledges the delivery, throwing gives it back.
  },
})`,
  streamDeliveries: "const worker = client.worker({ mode: 'sse', async handle({ event }) {} })",
  ackDeliveries: "await client.deliveries.ack(['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d'])",
  replayDeadLetter: "await client.deliveries.replay('dlv_01hv3k8z9q4m7t2x5c6w8r0s1d')",
  listDeadLetters: 'for await (const letter of client.deliveries.eachDeadLetter()) console.log(letter.dlq_reason)',
  createInterest: `const me = await client.agent()
await client.interests.create(me!.id, { event_type: 'com.example.order.*', filter_expression: 'data.total > 100' })`,
  createMemory: `await client.memory.remember({
  title: 'Deploys on Friday fail',
  content: 'Three of the last four Friday deploys were rolled back.',
})`,
  searchMemories: "const results = await client.memory.recall('why do deploys fail at the end of the week?')",
  createRelationship:
    "await client.memory.relate('mem_01hv3k8z9q4m7t2x5c6w8r0s1d', 'mem_01hv3k8z9q4m7t2x5c6w8r0s1e', 'caused_by')",
  listRelationships: "const related = await client.memory.explore('mem_01hv3k8z9q4m7t2x5c6w8r0s1d', { depth: 2 })",
  exchangeKey: `import { createClient } from '@sensorium/client'

// The client exchanges the key by itself, and again before the token ends.
const client = createClient({ url: '${ORIGIN}', apiKey: 'ak_live_0123456789abcdefghijABCDEFGHIJ01' })`,
}

/** Returns the sample for the client, or null for webhooks, which other systems post. */
export function sdkOf(listed: ListedOperation, spec: Spec): string | null {
  if (isSigned(listed)) return null
  const { operationId } = listed.operation
  if (CALLS[operationId]) return CALLS[operationId]
  const { params, query, body } = requestOf(listed, spec)
  const input = {
    ...(Object.keys(params).length > 0 ? { params } : {}),
    ...(Object.keys(query).length > 0 ? { query } : {}),
    ...(body === undefined ? {} : { body }),
  }
  return `await client.call('${operationId}'${Object.keys(input).length > 0 ? `, ${literal(input)}` : ', {}'})`
}
