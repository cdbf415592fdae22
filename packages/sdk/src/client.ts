// The client: made from a key or a token, it has a group of calls for each resource, and `call` for any operation.
import { agentCalls, interestCalls, keyCalls } from './agents.ts'
import { channelCalls } from './channels.ts'
import type { Agent, AuditList, Operations, Stats } from './contract.ts'
import { deliveryCalls, type DeliveryCalls } from './deliveries.ts'
import { ensure, type Description, type Ensured, type EnsureOptions } from './ensure.ts'
import { eventCalls, type EventCalls, type EventDefaults } from './events.ts'
import { makeLive, type Live } from './live.ts'
import { memoryCalls, type MemoryCalls } from './memory.ts'
import { makeCall, type Call, type CallOptions, type Connection } from './request.ts'
import { exchangedTokens, givenToken, type Tokens } from './tokens.ts'
import { transferCalls, type TransferCalls } from './transfer.ts'
import { startWorker, type Worker, type WorkerOptionsOf, type WorkOf } from './worker.ts'

export interface ClientOptions {
  /** Where the service is: `http://localhost:8080`. */
  url: string
  /** Exchanged for tokens as they are needed, and sent nowhere else. */
  apiKey?: string
  /** A token in place of a key: an access token, or the operator's. It is not renewed. */
  token?: string
  /** How often a call is tried in all before its error is thrown. */
  attempts?: number
  /** How long one attempt may take; what a poll waits comes on top. */
  timeoutMs?: number
  /** Attributes for every event that is published; `source` is the usual one. */
  events?: EventDefaults
  fetch?: typeof fetch
}

const DEFAULT_ATTEMPTS = 8
const DEFAULT_TIMEOUT_MS = 60_000

interface Parts {
  call: Call
  /** The calls of a client that has another key. */
  callWith(apiKey: string): Call
  connection: Connection
  tokens: Tokens
}

export interface Client {
  /** Any operation of the API by its name, with its own types. */
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
  /** Events of the tenant as they are accepted, and counts once a second. For an org-admin. */
  live: Live
  /** What happened in the tenant, minute by minute. For an org-admin. */
  stats(minutes?: number, options?: CallOptions): Promise<Stats>
  /** Who changed what in the tenant, newest first. For an org-admin. */
  audit(query?: Operations['listAudit']['query'], options?: CallOptions): Promise<AuditList>
  /** Who this client is: its agent, or null for an org-admin. Undefined where it was made from a token. */
  agent(): Promise<Agent | null | undefined>
  /** What its key allows. Undefined where it was made from a token. */
  scopes(): Promise<readonly string[] | undefined>
  /** The same client, whose events carry these attributes too. */
  with(more: EventDefaults): Client
  /** Brings agents, interests, channels and feeds to what is described; doing it twice changes nothing. */
  ensure(description: Description, options?: EnsureOptions): Promise<Ensured>
  /** Works through the mailbox until it is stopped. */
  worker<D = unknown>(options: WorkerOptions<D>): Worker
}

/** What a handler is given. */
export type Work<D = unknown> = WorkOf<Client, D>
export type WorkerOptions<D = unknown> = WorkerOptionsOf<Client, D>

function assemble(parts: Parts, defaults: EventDefaults): Client {
  const { call, tokens } = parts
  const events = eventCalls(call, defaults, async () => (await tokens.agent())?.id)
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
    agent: () => tokens.agent(),
    scopes: () => tokens.scopes(),
    with: (more) => assemble(parts, { ...defaults, ...more }),
    ensure: (description, options) =>
      ensure({ call, ownId: async () => (await tokens.agent())?.id, callWith: parts.callWith }, description, options),
    worker: (options) => startWorker(client, parts.connection, tokens, options),
  }
  return client
}

/** Guides and other clients write the address with the version of the API behind it: that is the same service. */
function baseOf(url: string): string {
  if (!/^https?:\/\//i.test(url)) throw new TypeError(`the url of a service begins with http:// or https://: ${url}`)
  let base = url
  while (base.endsWith('/')) base = base.slice(0, -1)
  return base.endsWith('/v1') ? base.slice(0, -3) : base
}

export function createClient(options: ClientOptions): Client {
  const connection: Connection = {
    url: baseOf(options.url),
    fetch: options.fetch ?? ((...given) => fetch(...given)),
    attempts: options.attempts ?? DEFAULT_ATTEMPTS,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  }
  const { apiKey, token } = options
  if ((apiKey === undefined) === (token === undefined)) throw new TypeError('a client needs an apiKey or a token')
  const exchange = makeCall(connection, null)
  const tokensOf = (key: string): Tokens => exchangedTokens(() => exchange('exchangeKey', { body: { api_key: key } }))
  const tokens = token !== undefined ? givenToken(token) : tokensOf(apiKey!)
  const callWith = (key: string): Call => makeCall(connection, tokensOf(key))
  return assemble({ call: makeCall(connection, tokens), callWith, connection, tokens }, options.events ?? {})
}
