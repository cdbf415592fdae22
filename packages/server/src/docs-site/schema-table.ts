// Renders a schema as a table of its fields. A named schema is a link to its own table.
import { escapeHtml, prose, unseenHead } from './html.ts'
import type { Schema, Spec } from './spec.ts'

const nameOf = (ref: string): string => ref.split('/').at(-1)!

function typeOf(schema: Schema): string {
  if (schema.$ref) return `<a href="#schema-${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (values) return values.map((value) => `<code>${escapeHtml(value)}</code>`).join(' ')
  const types = [schema.type ?? 'any JSON'].flat()
  const named = types.map((type) => (type === 'array' ? `array of ${typeOf(schema.items ?? {})}` : escapeHtml(type)))
  return named.join(' or ') + (schema.format ? ` <small>${escapeHtml(schema.format)}</small>` : '')
}

function boundsOf({ minimum, maximum, minLength, maxLength }: Schema): string[] {
  const parts: string[] = []
  if (minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    parts.push(`${minimum} to ${maximum}.`)
  else if (minimum !== undefined) parts.push(`At least ${minimum}.`)
  if (maxLength !== undefined) parts.push(`${minLength ?? 0} to ${maxLength} characters.`)
  return parts
}

export interface Field {
  name: string
  schema: Schema
  required: boolean
}

const FIELD_HEAD = unseenHead('field', 'type', 'description')

export const fieldTable = (fields: readonly Field[]): string =>
  `<div class="scroll"><table class="fields">${FIELD_HEAD}${fields
    .map(({ name, schema, required }) => {
      const description = [...boundsOf(schema), schema.description ? prose(schema.description) : '']
        .filter(Boolean)
        .join(' ')
      return `<tr><td><code>${escapeHtml(name)}</code>${required ? '' : ' <small>optional</small>'}</td><td>${typeOf(schema)}</td><td>${description}</td></tr>`
    })
    .join('')}</table></div>`

/** Renders the fields of an object, or of the schema that a reference names; for anything else, its type. */
export function schemaTable(schema: Schema, spec: Spec): string {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    return `<p class="named"><a href="#schema-${name}">${name}</a></p>${schemaTable(spec.components.schemas[name]!, spec)}`
  }
  if (schema.anyOf) return schema.anyOf.map((part) => schemaTable(part, spec)).join('<p class="named">or</p>')
  const description = schema.description ? `<p>${prose(schema.description)}</p>` : ''
  if (!schema.properties) return `${description}<p>${typeOf(schema)}</p>`
  return (
    description +
    fieldTable(
      Object.entries(schema.properties).map(([name, field]) => ({
        name,
        schema: field,
        required: schema.required?.includes(name) ?? false,
      })),
    )
  )
}
