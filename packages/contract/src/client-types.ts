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

  typeOf(schema: Schema | undefined, top = false): string {
    if (!schema) return 'unknown'
    if (schema.$id !== undefined && !top) {
      if (!this.found.has(schema.$id)) {
        this.found.set(schema.$id, schema)
        // Collects the named schemas that this one uses.
        this.typeOf(schema, true)
      }
      return schema.$id
    }
    if (schema.$ref !== undefined) return schema.$ref
    if (schema.enum) return schema.enum.map((value) => quoted(value)).join(' | ')
    if (schema.const !== undefined) return quoted(schema.const)
    if (schema.anyOf) return schema.anyOf.map((part) => this.typeOf(part)).join(' | ')
    if (schema.allOf) return schema.allOf.map((part) => this.typeOf(part)).join(' & ')
    const types = [schema.type ?? 'unknown'].flat()
    return types.map((type) => this.#plain(type, schema)).join(' | ')
  }

  #plain(type: string, schema: Schema): string {
    if (type === 'integer') return 'number'
    if (type === 'array') {
      const item = this.typeOf(schema.items)
      return /[ |&]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
    }
    if (type === 'object') return this.#object(schema)
    return type
  }

  #object(schema: Schema): string {
    const fields = Object.entries(schema.properties ?? {})
    if (fields.length === 0) return 'Record<string, unknown>'
    const lines = fields.map(([key, field]) => {
      const optional = schema.required?.includes(key) ? '' : '?'
      const doc = field.description ? `/** ${field.description.replaceAll('*/', '* /')} */\n` : ''
      return `${doc}${isName(key) ? key : quoted(key)}${optional}: ${this.typeOf(field)}`
    })
    if (schema.additionalProperties === true) lines.push('[extension: string]: unknown')
    return `{\n${lines.join('\n')}\n}`
  }
}

const quoted = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)

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
  const names = new Names()
  const shapes = operations.map((operation) => {
    for (const message of Object.values(operation.messages ?? {})) names.typeOf(message as Schema)
    const body = operation.body ? names.typeOf(operation.body as Schema) : 'undefined'
    return `/** ${operation.summary}: ${operation.method} ${(operation.base === 'v1' ? '/v1' : '') + operation.path} */
${operation.id}: {
params: ${paramsOf(operation)}
query: ${operation.query ? names.typeOf(operation.query as Schema) : 'Record<never, never>'}
body: ${operation.bodyOptional ? `${body} | undefined` : body}
response: ${responseOf(operation, names)}
}`
  })
  const table = operations.map(
    (operation) => `${operation.id}: '${operation.method} ${(operation.base === 'v1' ? '/v1' : '') + operation.path}',`,
  )
  const types = [...names.found].map(([name, schema]) => {
    const doc = schema.description ? `/** ${schema.description.replaceAll('*/', '* /')} */\n` : ''
    return `${doc}export type ${name} = ${names.typeOf(schema, true)}`
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
