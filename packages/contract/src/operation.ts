// An operation is one line of the interface: method, path, who may call it, what goes in and what comes out. The server
// binds a handler to each, and OpenAPI is generated from them, so that none of the three can drift from the others.
import type { Static, TSchema } from './shapes.ts'

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
 * `public`: no token. `any`: any principal of the tenant. `org_admin`: the org-admin of the tenant, whatever scopes an agent
 * holds. `operator`: the operator's own token.
 */
export interface Access {
  scope: Scope | 'any' | 'org_admin' | 'public' | 'operator'
  /** Another scope that is enough. */
  or?: Scope
  /** What is enough when the agent named in the path is the caller. */
  self?: Scope | 'any'
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Operation {
  id: string
  summary: string
  description?: string
  tag: string
  method: Method
  /** Below the base address for `v1`, below the host for `root`; parameters in braces. */
  path: string
  base: 'v1' | 'root'
  access: Access
  query?: TSchema
  body?: TSchema
  /** No body at all is taken as an empty object. */
  bodyOptional?: boolean
  /**
   * The handler takes something else than the JSON value of the body (prepared events, signed bytes) and checks it
   * itself; `body` is then only shown.
   */
  checksBody?: boolean
  /** Whole numbers of the body that a double cannot hold arrive as they were sent. */
  exactNumbers?: boolean
  /** Media types read; JSON alone where left out. */
  consumes?: readonly string[]
  /** Which limit holds for the body; `small` (1 MiB) where left out. */
  bodyLimit?: 'event' | 'memory' | 'import'
  /** Members of the body whose objects are read in steps, and kept and sent as the text that came. */
  asText?: readonly string[]
  /** The media type of a success; JSON where left out. */
  produces?: string
  /** Of a stream of server-sent events: the names of its events, and what each has as `data`. */
  messages?: Readonly<Record<string, TSchema>>
  /**
   * It leaves an entry in the audit log of the tenant, which shows these fields of the body. None of them may hold a
   * secret.
   */
  audit?: readonly string[]
  success: Readonly<Record<number, { description: string; schema?: TSchema }>>
  /** Body fields never to be repeated in an error. */
  secrets?: readonly string[]
}

type Defaults = 'base'
export type OperationInput = Omit<Operation, Defaults> & Partial<Pick<Operation, Defaults>>

export function operation<const O extends OperationInput>(definition: O): O & { base: 'v1' | 'root' } {
  return { base: 'v1', ...definition }
}

export type BodyOf<O> = O extends { body: infer B extends TSchema } ? Static<B> : undefined
export type QueryOf<O> = O extends { query: infer Q extends TSchema } ? Static<Q> : Record<string, never>

type ResultsOf<S> = { [K in keyof S]: S[K] extends { schema: infer T extends TSchema } ? Static<T> : null }[keyof S]
/** The body of a success; null where it has none. */
export type ResultOf<O> = O extends { success: infer S } ? ResultsOf<S> : unknown

type ParamNames<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | ParamNames<Rest> : never
export type ParamsOf<O> = O extends { path: infer P extends string }
  ? Record<ParamNames<P>, string>
  : Record<string, string>
