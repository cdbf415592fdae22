// The parts of openapi.json that the reference reads.

export interface Schema {
  type?: string | string[]
  $ref?: string
  const?: unknown
  enum?: unknown[]
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  examples?: unknown[]
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
}

export interface Media {
  schema: Schema
  example?: unknown
  examples?: Record<string, unknown>
}

export interface SpecOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
}

export interface Spec {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, SpecOperation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}

export interface ListedOperation {
  method: string
  path: string
  operation: SpecOperation
}

export const operationsOf = ({ paths }: Spec): ListedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )

/** Returns the parameters, with references to `components` resolved. */
export const parametersOf = ({ parameters }: SpecOperation, { components }: Spec): Parameter[] =>
  parameters.map((parameter) =>
    '$ref' in parameter ? components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
  )
