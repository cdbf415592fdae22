// From an admitted request to its answer: media type, idempotency, shape, handler, in this order.
import { ERRORS, type Operation } from '@sensorium/contract'
import type { ServerResponse } from 'node:http'
import { Failure, invalid, unsupportedMediaType } from '../kernel/failure.ts'
import { escapesSurrogates, mediaType, parseJson, wellFormed } from '../kernel/json.ts'
import { readMembers, type ReadMembers } from '../kernel/json-members.ts'
import type { Db, Store } from '../store/db.ts'
import type { Answer } from './answer.ts'
import { isBinaryMode } from './cloud-events.ts'
import type { Exchange } from './exchange.ts'
import { hashBody, hashLarge, type Idempotency, type Remember } from './idempotency.ts'
import type { Call, Handler, Route } from './route.ts'
import { exampleOf, readQuery, type Check, type CompileCheck } from './validate.ts'

const JSON_ONLY = ['application/json'] as const
const MAX_KEY_LENGTH = 255

export type Perform = (exchange: Exchange, raw: Buffer) => Promise<{ answer: Answer; replayed: boolean }>

export interface PerformTools {
  store: Store
  idempotency: Idempotency
  compileCheck: CompileCheck
  /** Calls `stop` when the node shuts down, at once if it does already; answers how to take that back. */
  whenLeaving(stop: () => void): () => void
}

/** A refusal as an answer; the door adds the request's id when it goes out. */
export const refusal = (failure: Failure): Answer => ({
  status: ERRORS[failure.code].status,
  json: { error: { code: failure.code, message: failure.message, request_id: '', details: failure.details } },
  headers: failure.headers,
})

function idempotencyKey(operation: Operation, exchange: Exchange): string | undefined {
  if ((operation.method !== 'POST' && operation.method !== 'PATCH') || operation.access.scope === 'public')
    return undefined
  const key = exchange.headers['idempotency-key']
  if (key === undefined || key === '') return undefined
  if (typeof key === 'string' && [...key].length <= MAX_KEY_LENGTH) return key
  throw invalid({
    field: 'Idempotency-Key',
    value: key,
    expected: `a string of at most ${MAX_KEY_LENGTH} characters`,
    example: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  })
}

// In the binary mode of CloudEvents the headers are part of the event.
const eventHeaders = (exchange: Exchange): string =>
  JSON.stringify(
    Object.entries(exchange.headers)
      .filter(([name]) => name.startsWith('ce-'))
      .sort(),
  )

export function makePerform(route: Route, { store, idempotency, compileCheck, whenLeaving }: PerformTools): Perform {
  const { operation } = route
  const consumes = operation.consumes ?? (operation.body && !operation.checksBody ? JSON_ONLY : [])
  const checkBody: Check | null =
    operation.body && !operation.checksBody ? compileCheck(operation.body, operation.secrets) : null
  const bodyExample = operation.body ? exampleOf(operation.body) : null
  const { asText } = operation
  const members = asText && { names: new Set(Object.keys(operation.body!.properties)), asText: new Set(asText) }
  const checkQuery: Check | null = operation.query ? compileCheck(operation.query) : null

  function checkMediaType({ headers }: Exchange, raw: Buffer): string {
    const header = headers['content-type']
    const type = mediaType(header)
    if (consumes.length === 0 || (header === undefined && raw.length === 0)) return type
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw unsupportedMediaType(`${header ?? ''}; content-encoding=${encoding}`, consumes)
    if (operation.consumes && isBinaryMode(headers, type)) return type
    if (!consumes.includes(type)) throw unsupportedMediaType(header ?? '', consumes)
    return type
  }

  async function readValue(raw: Buffer): Promise<ReadMembers> {
    if (members) return readMembers(raw, members)
    const parsed = parseJson(raw)
    return parsed.ok && escapesSurrogates(raw) ? { ok: true, value: wellFormed(parsed.value) } : parsed
  }

  async function shape(exchange: Exchange, raw: Buffer): Promise<{ body: unknown; query: unknown }> {
    let query: unknown = {}
    if (operation.query && checkQuery) {
      query = readQuery(operation.query, exchange.query)
      const wrong = checkQuery(query)
      if (wrong) throw invalid(wrong)
    }
    if (!checkBody) return { body: undefined, query }
    if (operation.bodyOptional && raw.length === 0) return { body: {}, query }
    const read = await readValue(raw)
    if (!read.ok) {
      const value = operation.secrets ? '[redacted]' : raw.toString('utf8', 0, 1000)
      throw invalid({ field: 'body', value, expected: read.problem, example: bodyExample })
    }
    const wrong = checkBody(read.value)
    if (wrong) throw invalid(wrong)
    return { body: read.value, query }
  }

  function handle(call: Call<never>, remember: Remember | null): Promise<Answer> {
    if (route.kind === 'read') return route.handle(call, store)
    if (route.kind === 'own') return route.handle(call, remember)
    return handleInTransaction(route.handle, call, remember)
  }

  async function handleInTransaction(
    work: Handler<never, Db>,
    call: Call<never>,
    remember: Remember | null,
  ): Promise<Answer> {
    let committed: (() => void)[] = []
    const answer = await store.tx(async (tx) => {
      committed = [] // the transaction may have been tried before
      const given = await work({ ...call, afterCommit: (run: () => void) => void committed.push(run) }, tx)
      if (remember) await remember(tx, given)
      return given
    })
    for (const run of committed) run()
    return answer
  }

  return async (exchange, raw) => {
    const { response } = exchange
    const principal = exchange.principal!
    const type = checkMediaType(exchange, raw)
    const key = idempotencyKey(operation, exchange)

    const run = async (remember: Remember | null): Promise<Answer> => {
      const { body, query } = await shape(exchange, raw)
      const call: Call<never> = {
        principal,
        params: exchange.params as never,
        query: query as never,
        body: body as never,
        raw,
        mediaType: type,
        headers: exchange.headers,
        requestId: exchange.id,
        address: exchange.request.socket.remoteAddress ?? '',
        gone: () => goneSignal(response, whenLeaving),
        afterCommit: () => {},
        openStream: (headers) => exchange.open(200, headers),
        response,
      }
      return handle(call, remember)
    }

    if (key === undefined) return { answer: await run(null), replayed: false }
    const path = exchange.resource
    // In binary mode the media type is part of the event; otherwise two names of the same JSON are the same body.
    const bodyHash =
      operation.consumes && isBinaryMode(exchange.headers, type)
        ? hashBody(raw, type, eventHeaders(exchange))
        : await hashLarge(raw)
    const id = {
      tenantId: principal.tenantId,
      principalId: principal.id,
      method: operation.method,
      path,
      key,
      bodyHash,
    }
    return idempotency.once(id, async (remember) => {
      try {
        return await run(remember)
      } catch (error) {
        if (error instanceof Failure && error.status < 500) return refusal(error)
        throw error
      }
    })
  }
}

function goneSignal(response: ServerResponse, whenLeaving: PerformTools['whenLeaving']): AbortSignal {
  const gone = new AbortController()
  const stop = (): void => gone.abort()
  if (response.destroyed) stop()
  const forget = whenLeaving(stop)
  response.once('close', () => {
    forget()
    stop()
  })
  return gone.signal
}
