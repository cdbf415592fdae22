// The client, made from a key or a token: a group of calls for each resource, and `call` for any operation.
import { agentCalls, interestCalls, keyCalls } from './agents.ts'
import { channelCalls } from './channels.ts'
import type { Agent, AuditList, Operations, Stats } from './contract.ts'
import { deliveryCalls, type DeliveryCalls } from './deliveries.ts'
import type { Description, EnsureOptions } from './description.ts'
import { ensure, type Ensured } from './ensure.ts'
import { eventCalls, type EventCalls, type EventDefaults } from './events.ts'
import { withoutUndefined } from './given.ts'
import { makeLive, type Live } from './live.ts'
import { memoryCalls, type MemoryCalls } from './memory.ts'
import { makeCall, type Call, type CallOptions, type Connection } from './request.ts'
import { tokensFromKey, fixedToken, type Tokens } from './tokens.ts'
import { transferCalls, type TransferCalls } from './transfer.ts'
import { LONGEST_MS, orAborted } from './wait.ts'
import { startWorker, type Worker, type WorkerOptionsOf, type WorkOf } from './worker.ts'

export interface ClientOptions {
  /** The address of the service, such as `http://localhost:8080`. */
  url: string
  /** An API key. The client exchanges it for tokens as needed; no other request carries it. */
  apiKey?: string | undefined
  /** A token instead of a key: an access token or the operator's token. The client does not renew it. */
  token?: string | undefined
  /**
   * The total number of attempts of a call before its error is thrown. By default 8, and as many as it takes to wait a
   * minute in all for a service that is away.
   */
  attempts?: number | undefined
  /**
   * The longest wait in seconds that the service may ask for with `Retry-After`. If it asks for a longer one, the error
   * is thrown at once, for a user who waits. By default a call waits for as long as it is asked to, up to five minutes.
   */
  maxRetryAfter?: number | undefined
  /**
   * Called with the error of an attempt before the call waits to be tried again, for a log: by default a service that
   * is away is waited for in silence. An error that it throws fails the call.
   */
  onRetry?: ((error: unknown, waitMs: number) => void) | undefined
  /** The time limit of one attempt, 60,000 by default. The `wait` of a poll is added to it. */
  timeoutMs?: number | undefined
  /** Attributes added to every published event, typically `source`. */
  events?: EventDefaults | undefined
  fetch?: typeof fetch | undefined
  /**
   * Parses the JSON of responses and streams, JSON.parse by default. `parseExactly` keeps the digits of every number,
   * for a program that passes them on. An error that it throws fails the call.
   */
  parse?: ((text: string) => unknown) | undefined
}

const DEFAULT_TIMEOUT_MS = 60_000

interface Parts {
  call: Call
  /** Returns a `call` that authenticates with another key. */
  callWith(apiKey: string): Call
  connection: Connection
  tokens: Tokens
}

export interface Client {
  /** Calls any operation of the API by its name, with the types of that operation. */
  call: Call
  events: EventCalls
  deliveries: DeliveryCalls
  agents: ReturnType<typeof agentCalls>
  keys: ReturnType<typeof keyCalls>
  interests: ReturnType<typeof interestCalls>
  channels: ReturnType<typeof channelCalls>
  memory: MemoryCalls & TransferCalls
  /** Publishes an event: the same as `events.publish`. */
  publish: EventCalls['publish']
  /** Yields the events of the tenant as they are accepted, and counts once a second. For an org-admin. */
  live: Live
  /** Returns the activity of the tenant, minute by minute. For an org-admin. */
  stats(minutes?: number, options?: CallOptions): Promise<Stats>
  /** Lists who changed what in the tenant, newest first. For an org-admin. */
  audit(query?: Operations['listAudit']['query'], options?: CallOptions): Promise<AuditList>
  /** Returns the agent of this client, or null for an org-admin; undefined if the client was made from a token. */
  agent(options?: Pick<CallOptions, 'signal'>): Promise<Agent | null | undefined>
  /** Returns the scopes of the key; undefined if the client was made from a token. */
  scopes(options?: Pick<CallOptions, 'signal'>): Promise<readonly string[] | undefined>
  /** Returns a client that adds these attributes to its events too, and is otherwise the same. */
  with(more: EventDefaults): Client
  /** Makes agents, interests, channels and feeds match a description. A second run changes nothing. */
  ensure(description: Description, options?: EnsureOptions): Promise<Ensured>
  /** Starts a worker that handles the deliveries of the mailbox until it is stopped. */
  worker<D = unknown>(options: WorkerOptions<D>): Worker
}

/** The argument of a handler. */
export type Work<D = unknown> = WorkOf<Client, D>
export type WorkerOptions<D = unknown> = WorkerOptionsOf<Client, D>

function assemble(parts: Parts, defaults: EventDefaults): Client {
  const { call, tokens } = parts
  const ownId = async (): Promise<string | undefined> => (await tokens.agent())?.id
  const events = eventCalls(call, defaults, ownId)
  const client: Client = {
    call,
    events,
    deliveries: deliveryCalls(call),
    agents: agentCalls(call),
    keys: keyCalls(call),
    interests: interestCalls(call),
    channels: channelCalls(call, events.publish),
    memory: { ...memoryCalls(call), ...transferCalls(call, parts.connection, tokens) },
    publish: events.publish,
    live: makeLive(parts.connection, tokens),
    audit: (query = {}, options) => call('listAudit', { query }, options),
    stats: (minutes = 60, options) => call('getStats', { query: { minutes } }, options),
    agent: (options) => orAborted(tokens.agent(), options?.signal),
    scopes: (options) => orAborted(tokens.scopes(), options?.signal),
    with: (more) => assemble(parts, { ...defaults, ...withoutUndefined(more) }),
    ensure: (description, options) => ensure({ call, ownId, callWith: parts.callWith }, description, options),
    worker: (options) => startWorker(client, parts.connection, tokens, options),
  }
  return client
}

/** Returns the address without `/v1`, which guides and other clients append: it names the same service. */
function baseOf(url: string): string {
  if (!/^https?:\/\//i.test(url)) throw new TypeError(`the url of a service begins with http:// or https://: ${url}`)
  let base = url
  while (base.endsWith('/')) base = base.slice(0, -1)
  return base.endsWith('/v1') ? base.slice(0, -3) : base
}

/** Creates a client for one service from an API key or a token. No request is made until the first call. */
export function createClient(options: ClientOptions): Client {
  const connection: Connection = {
    url: baseOf(options.url),
    fetch: options.fetch ?? ((...given) => fetch(...given)),
    attempts: options.attempts,
    maxRetryAfter: options.maxRetryAfter ?? Number.POSITIVE_INFINITY,
    timeoutMs: Math.min(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, LONGEST_MS),
    onRetry: options.onRetry,
    parse: options.parse ?? JSON.parse,
  }
  const { apiKey, token } = options
  if ((apiKey === undefined) === (token === undefined)) throw new TypeError('a client needs an apiKey or a token')
  const exchange = makeCall(connection, null)
  const tokensOf = (key: string): Tokens => tokensFromKey(() => exchange('exchangeKey', { body: { api_key: key } }))
  const tokens = token !== undefined ? fixedToken(token) : tokensOf(apiKey!)
  const callWith = (key: string): Call => makeCall(connection, tokensOf(key))
  return assemble({ call: makeCall(connection, tokens), callWith, connection, tokens }, options.events ?? {})
}
