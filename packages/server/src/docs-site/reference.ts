// The reference of all operations, each collapsed: description, parameters, responses, errors, and a form to try it.
import { ERRORS } from '@sensorium/contract'
import { escapeHtml, firstSentence, prose, unseenHead } from './html.ts'
import { curlOf, sdkOf } from './samples.ts'
import { fieldTable, schemaTable, type Field } from './schema-table.ts'
import { operationsOf, parametersOf, type ListedOperation, type Spec, type SpecOperation } from './spec.ts'

const code = (title: string, text: string): string =>
  `<figure><figcaption>${title}</figcaption><pre><code>${escapeHtml(text)}</code></pre></figure>`

function responses(operation: SpecOperation, spec: Spec): string {
  return Object.entries(operation.responses)
    .filter(([status]) => Number(status) < 300)
    .map(([status, { description, content }]) => {
      const [media] = Object.values(content ?? {})
      return `<h4><span class="status">${status}</span> ${prose(description)}</h4>${media ? schemaTable(media.schema, spec) : '<p>No body.</p>'}`
    })
    .join('')
}

const ERROR_HEAD = unseenHead('status', 'code', 'when')

/** Renders the errors of an operation by code. Their full meaning is in the catalogue at the end of the page. */
function errors(operation: SpecOperation): string {
  const rows = Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description, content }]) =>
      Object.keys(Object.values(content ?? {})[0]?.examples ?? {}).map((name) => {
        const rules = name === 'business_rule_violation' ? /Here: (.*)$/.exec(description)?.[1] : undefined
        const when = ERRORS[name as keyof typeof ERRORS].when
        const short = rules ? `Breaks a rule: ${rules}` : firstSentence(when)
        return `<tr><td>${status}</td><td><a href="#errors"><code>${name}</code></a></td><td>${prose(short)}</td></tr>`
      }),
    )
  return `<div class="scroll"><table class="errors">${ERROR_HEAD}${rows.join('')}</table></div>`
}

function tryIt({ method, path, operation }: ListedOperation, spec: Spec): string {
  const inputs = parametersOf(operation, spec)
    .filter((parameter) => parameter.in !== 'header')
    .map(
      (parameter) =>
        `<label>${escapeHtml(parameter.name)}<input name="${escapeHtml(parameter.name)}" data-in="${parameter.in}"${parameter.required ? ' required' : ''} placeholder="${escapeHtml(parameter.schema.examples?.[0] ?? '')}"></label>`,
    )
  const [media, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const text = body
    ? `<label class="wide">Body<textarea name="body" data-media="${escapeHtml(media)}" rows="6" spellcheck="false">${escapeHtml(JSON.stringify(body.example, null, 2))}</textarea></label>`
    : ''
  const token =
    operation.security.length > 0
      ? '<label class="wide">Token or API key<input class="token" type="password" autocomplete="off" placeholder="kept in this page only"></label>'
      : ''
  return `<form class="try" data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}"><h4>Try it</h4>${token}${inputs.join('')}${text}<button>Send ${method.toUpperCase()}</button><output></output></form>`
}

function section(listed: ListedOperation, spec: Spec): string {
  const { method, path, operation } = listed
  const parameters: Field[] = parametersOf(operation, spec).map(({ name, schema, required, description }) => ({
    name,
    required,
    schema: { ...schema, ...(description ? { description } : {}) },
  }))
  const bodies = Object.entries(operation.requestBody?.content ?? {})
  const sdk = sdkOf(listed, spec)
  const examples = Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.values(content ?? {})
      .filter(({ example }) => example !== undefined)
      .map(({ example }) =>
        code(`Response ${status}`, typeof example === 'string' ? example : JSON.stringify(example, null, 2)),
      ),
  )
  return `<details class="op" id="${operation.operationId}"><summary><span class="verb ${method}">${method.toUpperCase()}</span><code>${escapeHtml(path).replaceAll('/', '/<wbr>')}</code><span class="says">${escapeHtml(operation.summary)}</span></summary>
<div class="op-body"><div><p>${prose(operation.description)}</p>
${parameters.length > 0 ? `<h4>Parameters</h4>${fieldTable(parameters)}` : ''}
${bodies.length > 0 ? `<h4>Body <small>${bodies.map(([type]) => escapeHtml(type)).join(', ')}</small></h4>${schemaTable(bodies[0]![1].schema, spec)}` : ''}
${responses(operation, spec)}<h4>Errors</h4>${errors(operation)}</div>
<div class="samples">${code('curl', curlOf(listed, spec))}${sdk === null ? '' : code('TypeScript', sdk)}${examples.join('')}${tryIt(listed, spec)}</div></div></details>`
}

const errorTable = (): string =>
  Object.entries(ERRORS)
    .map(
      ([name, { status, when, details }]) =>
        `<tr><td><code>${name}</code></td><td>${status} · ${Object.keys((details as { properties?: object }).properties ?? {}).join(', ') || 'empty'}</td><td>${escapeHtml(when)}</td></tr>`,
    )
    .join('')

export const tagAnchor = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(' ', '-')}`

export function reference(spec: Spec): string {
  const all = operationsOf(spec)
  const groups = spec.tags.map(({ name, description }) => {
    const own = all.filter(({ operation }) => operation.tags[0] === name)
    return `<section><h3 id="${tagAnchor(name)}">${escapeHtml(name)}</h3><p>${prose(description)}</p>${own.map((listed) => section(listed, spec)).join('')}</section>`
  })
  const schemas = Object.entries(spec.components.schemas).map(
    ([name, schema]) =>
      `<details class="op" id="schema-${name}"><summary><code>${name}</code></summary><div class="schema">${schemaTable(schema, spec)}</div></details>`,
  )
  return `<h2 id="reference">API reference</h2>
<p>Exchange an API key for a token at <a href="#exchangeKey"><code>POST /v1/auth/token</code></a>, then send <code>Authorization: Bearer …</code>. Every response carries <code>X-Request-Id</code>. The same as a file: <a href="/openapi.json">openapi.json</a>.</p>
${groups.join('')}
<h2 id="errors">Errors</h2><p>Every error is <code>{"error": {"code", "message", "request_id", "details"}}</code>.</p>
<div class="scroll"><table><tr><th>code</th><th>status · details</th><th>when</th></tr>${errorTable()}</table></div>
<h2 id="schemas">Schemas</h2>${schemas.join('')}`
}
