// An operation is one entry of the interface: method, path, access, request and response. The server binds a handler to
// each, and OpenAPI is generated from them, so that none of the three can drift from the others.
import type { Static, Schema } from './shapes.ts'

export const SCOPES = [
  'send',
  'receive',
  'memory:read',
  'memory:write',
  'admin',
  'channel:read',
  'channel:write',
  'interests:read',
  'interests:write',
] as const

export type Scope = (typeof SCOPES)[number]

/**
 * `public`: no token. `any`: any principal of the tenant. `org_admin`: the org-admin of the tenant, whatever scopes an
 * agent holds. `operator`: the operator's own token.
 */
export interface Access {
  scope: Scope | 'any' | 'org_admin' | 'public' | 'operator'
  /** Another scope that is sufficient. */
  or?: Scope
  /** The scope that is sufficient when the caller is the agent named in the path. */
  self?: Scope | 'any'
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Operation {
  id: string
  summary: string
  description?: string
  tag: string
  method: Method
  /** Relative to `/v1` for `v1`, to the host for `root`; parameters in braces. */
  path: string
  base: 'v1' | 'root'
  access: Access
  query?: Schema
  body?: Schema
  /** A missing body counts as an empty object. */
  bodyOptional?: boolean
  /**
   * The handler takes something other than the JSON value of the body (prepared events, signed bytes) and checks it
   * itself; `body` then serves the documentation only.
   */
  checksBody?: boolean
  /**
   * The body holds an event, which is read as a publish reads it: integers that a double cannot hold keep their exact
   * value, and depth is counted from the event on.
   */
  holdsEvent?: boolean
  /** The accepted media types; JSON only if left out. */
  consumes?: readonly string[]
  /** Which size limit the body has; `small` (1 MiB) if left out. */
  bodyLimit?: 'event' | 'memory' | 'import'
  /** Members of the body whose objects are read in steps, and stored and returned as the text that was sent. */
  asText?: readonly string[]
  /** The media type of a success; JSON if left out. */
  produces?: string
  /** For a stream of server-sent events: the names of its events, with the schema of their `data`. */
  messages?: Readonly<Record<string, Schema>>
  /**
   * The operation writes an entry to the audit log of the tenant, with these fields of the body. None of them may hold
   * a secret.
   */
  audit?: readonly string[]
  success: Readonly<Record<number, { description: string; schema?: Schema }>>
  /** Body fields that no error may repeat. */
  secrets?: readonly string[]
  /** A body field with a URL whose user and password no error may repeat. */
  urlWithUser?: string
}

type Defaults = 'base'
export type OperationInput = Omit<Operation, Defaults> & Partial<Pick<Operation, Defaults>>

export function operation<const O extends OperationInput>(definition: O): O & { base: 'v1' | 'root' } {
  return { base: 'v1', ...definition }
}

export type BodyOf<O> = O extends { body: infer B extends Schema } ? Static<B> : undefined
export type QueryOf<O> = O extends { query: infer Q extends Schema } ? Static<Q> : Record<string, never>

type ResultsOf<S> = { [K in keyof S]: S[K] extends { schema: infer T extends Schema } ? Static<T> : null }[keyof S]
/** The body of a success; null if it has none. */
export type ResultOf<O> = O extends { success: infer S } ? ResultsOf<S> : unknown

type ParamNames<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | ParamNames<Rest> : never
export type ParamsOf<O> = O extends { path: infer P extends string }
  ? Record<ParamNames<P>, string>
  : Record<string, string>
