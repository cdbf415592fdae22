// The types of the client, generated from the operations: neither the client nor its types have a dependency.
import type { Operation } from './operation.ts'

interface Schema {
  $id?: string
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
  default?: unknown
}

const HEAD = `// Generated from the contract by \`npm run openapi\`. Edit packages/contract instead; a test compares the two.
`

const isName = (key: string): boolean => /^[A-Za-z_$][\w$]*$/.test(key)

/** Collects named schemas, in the order in which they are first used. */
class Names {
  readonly found = new Map<string, Schema>()
  readonly #received: ReadonlySet<string>

  /**
   * `received` are the names of what the service sends. In everything else, which callers write, an optional field may
   * also be undefined: with `exactOptionalPropertyTypes` they could not pass on an optional value otherwise.
   */
  constructor(received: ReadonlySet<string> = new Set()) {
    this.#received = received
  }

  typeOf(schema: Schema | undefined, isGiven = false): string {
    if (!schema) return 'unknown'
    if (schema.$id === undefined) return this.#written(schema, isGiven)
    if (!this.found.has(schema.$id)) {
      this.found.set(schema.$id, schema)
      // Collects the named schemas that this one uses.
      this.named(schema)
    }
    return schema.$id
  }

  /** Returns the type that the name of the schema stands for. */
  named(schema: Schema): string {
    return this.#written(schema, !this.#received.has(schema.$id!))
  }

  #written(schema: Schema, isGiven: boolean): string {
    if (schema.$ref !== undefined) return schema.$ref
    if (schema.enum) return schema.enum.map((value) => quoted(value)).join(' | ')
    if (schema.const !== undefined) return quoted(schema.const)
    if (schema.anyOf) return schema.anyOf.map((part) => this.typeOf(part, isGiven)).join(' | ')
    if (schema.allOf) return schema.allOf.map((part) => this.typeOf(part, isGiven)).join(' & ')
    const types = [schema.type ?? 'unknown'].flat()
    return types.map((type) => this.#plain(type, schema, isGiven)).join(' | ')
  }

  #plain(type: string, schema: Schema, isGiven: boolean): string {
    if (type === 'integer') return 'number'
    if (type === 'array') {
      const item = this.typeOf(schema.items, isGiven)
      return /[ |&]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
    }
    if (type === 'object') return this.#object(schema, isGiven)
    return type
  }

  #object(schema: Schema, isGiven: boolean): string {
    const fields = Object.entries(schema.properties ?? {})
    if (fields.length === 0) return 'Record<string, unknown>'
    const lines = fields.map(([key, field]) => {
      const isRequired = schema.required?.includes(key) ?? false
      const orUndefined = isGiven && !isRequired ? ' | undefined' : ''
      const doc = field.description ? `/** ${field.description.replaceAll('*/', '* /')} */\n` : ''
      return `${doc}${isName(key) ? key : quoted(key)}${isRequired ? '' : '?'}: ${this.typeOf(field, isGiven)}${orUndefined}`
    })
    if (schema.additionalProperties === true) lines.push('[extension: string]: unknown')
    return `{\n${lines.join('\n')}\n}`
  }
}

const quoted = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)

const messagesOf = ({ messages = {} }: Operation): Schema[] => Object.values(messages) as Schema[]

function responseOf(operation: Operation, names: Names): string {
  const shapes = Object.values(operation.success).map(({ schema }) =>
    schema ? names.typeOf(schema as Schema) : 'undefined',
  )
  return [...new Set(shapes)].join(' | ')
}

const paramsOf = ({ path }: Operation): string => {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
  return params.length > 0 ? `{ ${params.join('; ')} }` : 'Record<never, never>'
}

/** Returns the source of the client's contract.ts, not yet formatted. */
export function clientTypes(operations: readonly Operation[]): string {
  const received = new Names()
  for (const operation of operations) {
    for (const message of messagesOf(operation)) received.typeOf(message)
    responseOf(operation, received)
  }
  const names = new Names(new Set(received.found.keys()))
  const shapes = operations.map((operation) => {
    for (const message of messagesOf(operation)) names.typeOf(message)
    const body = operation.body ? names.typeOf(operation.body as Schema, true) : 'undefined'
    return `/** ${operation.summary}: ${operation.method} ${(operation.base === 'v1' ? '/v1' : '') + operation.path} */
${operation.id}: {
params: ${paramsOf(operation)}
query: ${operation.query ? names.typeOf(operation.query as Schema, true) : 'Record<never, never>'}
body: ${operation.bodyOptional ? `${body} | undefined` : body}
response: ${responseOf(operation, names)}
}`
  })
  const table = operations.map(
    (operation) => `${operation.id}: '${operation.method} ${(operation.base === 'v1' ? '/v1' : '') + operation.path}',`,
  )
  const types = [...names.found].map(([name, schema]) => {
    const doc = schema.description ? `/** ${schema.description.replaceAll('*/', '* /')} */\n` : ''
    return `${doc}export type ${name} = ${names.named(schema)}`
  })
  return `${HEAD}
/** The method and path of each operation. */
export const OPERATIONS = {
${table.join('\n')}
} as const

/** The path parameters, query, body and response of each operation. */
export interface Operations {
${shapes.join('\n')}
}

${types.join('\n\n')}
`
}
