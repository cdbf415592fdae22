// openapi.json as third-party tools read it: a linter finds nothing, and a code generator makes types that accept the
// examples of the document.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { openapi, operations, RULES } from '@sensorium/contract'
import { compileErrors } from '../support/compile-errors.ts'
import { ROOT } from '../support/root.ts'

const DOCUMENT = path.join(ROOT, 'openapi.json')
// The generator needs TypeScript 5, so both are in a separate package.
const GENERATOR = path.join(ROOT, 'packages/generator-check')
const tools = createRequire(path.join(GENERATOR, 'package.json'))

interface Media {
  schema?: unknown
  example?: unknown
  examples?: object
}
interface OperationObject {
  operationId: string
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}
interface OpenApi {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OperationObject>>
}

const document = openapi(Object.values(operations)) as never as OpenApi
const all = Object.entries(document.paths).flatMap(([url, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ url, method, operation })),
)

test('[DOC-1] every response with a body has a schema and an example, and every group a description', () => {
  assert.ok(all.length > 60)
  for (const { operation } of all) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      assert.equal(content === undefined, status === '204', `${operation.operationId} ${status}`)
      for (const { schema, example, examples } of Object.values(content ?? {})) {
        assert.ok(schema, `${operation.operationId} ${status} has a schema`)
        assert.ok(example !== undefined || examples, `${operation.operationId} ${status} has an example`)
        assert.doesNotMatch(JSON.stringify(schema), /^\{"type":"object"\}$/, `${operation.operationId}: a bare object`)
        assert.doesNotMatch(
          JSON.stringify(example ?? null),
          /"text"/,
          `${operation.operationId}: a field without example`,
        )
      }
    }
  }
  for (const { name, description } of document.tags) assert.notEqual(description, name)
})

test('[DOC-2] a 422 names the rules of its operation, and docs/reference.md has each of them', () => {
  const page = readFileSync(path.join(ROOT, 'docs/reference.md'), 'utf8')
  const table = page.split('### Rules')[1]!.split('\n## ')[0]!
  const listed = [...table.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, rule]) => rule!)
  assert.deepEqual(
    new Set(Object.values(RULES).flat()),
    new Set(listed),
    'packages/contract/src/rules.ts and the table',
  )
  for (const { operation } of all)
    assert.equal('422' in operation.responses, operation.operationId in RULES, operation.operationId)
})

test('[DOC-3] a linter finds nothing in openapi.json', async () => {
  const { createConfig, lint } = (await import(
    pathToFileURL(tools.resolve('@redocly/openapi-core')).href
  )) as unknown as {
    createConfig(raw: object): Promise<object>
    lint(options: {
      ref: string
      config: object
    }): Promise<{ ruleId: string; message: string; location: { pointer?: string }[] }[]>
  }
  const config = await createConfig({
    extends: ['recommended'],
    // `/agents/by-external-id/{external_id}` and `/agents/{id}/keys`: no id of ours is `by-external-id`.
    rules: { 'no-ambiguous-paths': 'off' },
  })
  const problems = await lint({ ref: DOCUMENT, config })
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`),
    [],
  )
})

/** One constant for each example, with the type that the generator made for it. */
function uses(): string[] {
  const lines: string[] = []
  const use = (type: string, value: unknown): void =>
    void lines.push(`export const e${lines.length}: NonNullable<${type}> = ${JSON.stringify(value)}`)
  for (const { url, method, operation } of all) {
    const at = `paths['${url}']['${method}']`
    for (const [media, { example }] of Object.entries(operation.requestBody?.content ?? {}))
      use(`NonNullable<${at}['requestBody']>['content']['${media}']`, example)
    for (const [status, { content }] of Object.entries(operation.responses))
      for (const [media, { example }] of Object.entries(content ?? {}))
        if (example !== undefined) use(`${at}['responses']['${status}']['content']['${media}']`, example)
  }
  return lines
}

test('[DOC-4] default types of openapi-typescript accept requests with only the required fields', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-openapi-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const cli = path.join(GENERATOR, 'node_modules/openapi-typescript/bin/cli.js')
  await promisify(execFile)(process.execPath, [cli, DOCUMENT, '-o', path.join(folder, 'api.ts')], { cwd: GENERATOR })
  const lines = uses()
  assert.ok(lines.length > 80)
  const consumer = path.join(folder, 'consumer.ts')
  writeFileSync(consumer, `import type { paths } from './api'\n${lines.join('\n')}\n`)

  assert.equal(await compileErrors(consumer, ['--strict', '--types', '']), '')
})
