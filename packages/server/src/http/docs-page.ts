// /docs: the reference, rendered from the same operations as everything else. One page, no script, nothing fetched.
import { ERRORS } from '@sensorium/contract'

interface Spec {
  tags: { name: string }[]
  paths: Record<string, Record<string, SpecOperation>>
  components: { schemas: Record<string, Schema> }
}
interface SpecOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: { name?: string; in?: string; required?: boolean; description?: string; schema?: Schema; $ref?: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}
interface Schema {
  type?: string | string[]
  $ref?: string
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
  default?: unknown
}

const escapeHtml = (text: unknown): string =>
  String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)

const prose = (text: string): string =>
  escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\n\n/g, '<br>')

function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)!
    return `<a href="#schema-${name}">${name}</a>`
  }
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `<code>${escapeHtml(value)}</code>`).join(' ')
  if (schema.type === 'array') return `array of ${schema.items ? typeOf(schema.items) : 'any'}`
  return (
    escapeHtml([schema.type ?? 'any JSON'].flat().join(' or ')) +
    (schema.format ? ` <small>${escapeHtml(schema.format)}</small>` : '')
  )
}

function rules(schema: Schema): string {
  const parts: string[] = []
  if (schema.minimum !== undefined || schema.maximum !== undefined)
    parts.push(`${schema.minimum ?? '…'}..${schema.maximum ?? '…'}`)
  if (schema.maxLength !== undefined) parts.push(`${schema.minLength ?? 0}..${schema.maxLength} characters`)
  if (schema.default !== undefined) parts.push(`default ${escapeHtml(JSON.stringify(schema.default))}`)
  if (schema.description) parts.push(prose(schema.description))
  return parts.join(', ')
}

const rowsOf = (fields: [string, Schema, boolean][]): string =>
  fields
    .map(
      ([name, schema, required]) =>
        `<tr><td><code>${escapeHtml(name)}</code>${required ? '' : ' <small>optional</small>'}</td><td>${typeOf(schema)}</td><td>${rules(schema)}</td></tr>`,
    )
    .join('')

const table = (fields: [string, Schema, boolean][]): string =>
  fields.length === 0 ? '' : `<table>${rowsOf(fields)}</table>`

const schemaTable = (schema: Schema): string =>
  schema.properties
    ? table(
        Object.entries(schema.properties).map(([name, property]) => [
          name,
          property,
          schema.required?.includes(name) ?? false,
        ]),
      )
    : `<p>${typeOf(schema)}</p>`

function section(method: string, path: string, operation: SpecOperation): string {
  const parameters = operation.parameters.flatMap((p): [string, Schema, boolean][] =>
    p.name && p.schema
      ? [[p.name, { ...p.schema, ...(p.description ? { description: p.description } : {}) }, p.required ?? false]]
      : [],
  )
  const bodies = operation.requestBody ? Object.entries(operation.requestBody.content) : []
  const answers = Object.entries(operation.responses)
    .map(([status, { description, content }]) => {
      const schema = content?.['application/json']?.schema
      return `<tr><td><code>${status}</code></td><td>${schema && Number(status) < 300 ? `${typeOf(schema)} · ` : ''}${prose(description)}</td></tr>`
    })
    .join('')
  return `<article id="${operation.operationId}"><h3><span class="m ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></h3>
<p><b>${escapeHtml(operation.summary)}.</b> ${prose(operation.description)}</p>
${parameters.length ? `<h4>Parameters</h4>${table(parameters)}` : ''}
${bodies.length ? `<h4>Body <small>${bodies.map(([type]) => escapeHtml(type)).join(', ')}</small></h4><p>${typeOf(bodies[0]![1].schema)}</p>` : ''}
<h4>Answers</h4><table class="answers">${answers}</table></article>`
}

const STYLE = `:root{color-scheme:light dark;--line:#8883;--soft:#8881;--ink:light-dark(#1c2430,#e4e8ee);--paper:light-dark(#fff,#12161c);--accent:light-dark(#0a6b5e,#4fd1b8)}
*{box-sizing:border-box}body{margin:0;font:15px/1.55
*system-ui,sans-serif;color:var(--ink);background:var(--paper);display:grid;grid-template-columns:270px minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:24px 18px;border-right:1px solid var(--line);font-size:13.5px}nav h2{font-size:12px;text-transform:uppercase;letter-spacing:.06em;opacity:.65;margin:18px 0 4px}
nav a{display:block;padding:2px 0;color:inherit;text-decoration:none}nav a:hover{color:var(--accent)}main{padding:28px 40px 80px;max-width:980px}
h1{margin:0 0 4px;font-size:28px}h2{margin-top:44px;border-bottom:1px solid var(--line);padding-bottom:6px}article{padding:14px 0 22px;border-bottom:1px solid var(--line)}
h3{margin:6px 0;font-size:17px}h4{margin:14px 0 4px;font-size:13px;opacity:.75}a{color:var(--accent)}code{font:13px ui-monospace,monospace;background:var(--soft);padding:1px 5px;border-radius:4px}
table{border-collapse:collapse;width:100%;font-size:14px}td,th{text-align:left;vertical-align:top;padding:5px 12px 5px 0;border-top:1px solid var(--line)}td:first-child{width:26%}td:nth-child(2){width:30%}.answers td:first-child{width:64px}.answers td:nth-child(2){width:auto}
small{opacity:.65}.m{font:600 12px ui-monospace,monospace;padding:3px 8px;border-radius:5px;color:#fff;background:#5b6675}.get{background:#1f6feb}.post{background:#1a7f4b}.patch{background:#9a6700}.delete{background:#b42318}
@media(max-width:800px){body{display:block}nav{position:static;height:auto;border:0}main{padding:20px}}`

/** The page. It holds no script, so its policy forbids all. */
export function docsPage(spec: object): string {
  const { tags, paths, components } = spec as Spec
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const ofTag = (tag: string) => all.filter(({ operation }) => operation.tags[0] === tag)
  const errors = Object.entries(ERRORS)
    .map(
      ([code, { status, when, details }]) =>
        `<tr><td><code>${code}</code></td><td>${status} · ${Object.keys((details as Schema).properties ?? {}).join(', ') || 'empty'}</td><td>${escapeHtml(when)}</td></tr>`,
    )
    .join('')
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Sensorium reference</title><style>${STYLE}</style>
<nav><b>Sensorium</b> <small>1.0.0</small>${tags
    .map(
      ({ name }) =>
        `<h2>${escapeHtml(name)}</h2>${ofTag(name)
          .map(({ operation }) => `<a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a>`)
          .join('')}`,
    )
    .join('')}
<h2>More</h2><a href="#errors">Errors</a><a href="#schemas">Schemas</a><a href="/openapi.json">openapi.json</a></nav>
<main><h1>Sensorium reference</h1><p>Exchange an API key for a token at <a href="#exchangeKey"><code>POST /v1/auth/token</code></a>, then send <code>Authorization: Bearer …</code>. Every answer carries <code>X-Request-Id</code>.</p>
${tags
  .map(
    ({ name }) =>
      `<h2>${escapeHtml(name)}</h2>${ofTag(name)
        .map(({ method, path, operation }) => section(method, path, operation))
        .join('')}`,
  )
  .join('')}
<h2 id="errors">Errors</h2><p>Every error is <code>{"error": {"code", "message", "request_id", "details"}}</code>.</p><table><tr><th>code</th><th>status · details</th><th>when</th></tr>${errors}</table>
<h2 id="schemas">Schemas</h2>${Object.entries(components.schemas)
    .map(([name, schema]) => `<article id="schema-${name}"><h3>${name}</h3>${schemaTable(schema)}</article>`)
    .join('')}</main></html>`
}
