// Generated files are up to date, and every error is documented.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { clientTypes, ERRORS, openapi, operations, type Operation } from '@sensorium/contract'
import { reference } from '../../src/docs-site/reference.ts'
import type { Spec } from '../../src/docs-site/spec.ts'
import { ROOT } from '../support/root.ts'

const document = openapi(Object.values(operations))

test('[HTTP-26] openapi.json is what the contract generates', () => {
  const committed = readFileSync(path.join(ROOT, 'openapi.json'), 'utf8')
  // Not deepEqual: a diff of two documents of this size is of no use.
  assert.ok(
    committed === JSON.stringify(document, null, 2) + '\n',
    'it is not: run npm run openapi and look at the diff',
  )
})

test('[SDK-16] the types of the client are what the contract generates', () => {
  const file = 'packages/sdk/src/contract.ts'
  const biome = path.join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
  const generated = execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${file}`], {
    cwd: ROOT,
    input: clientTypes(Object.values(operations)),
    encoding: 'utf8',
  })
  assert.ok(generated === readFileSync(path.join(ROOT, file), 'utf8'), 'they are not: run npm run openapi')
})

test('[HTTP-26] every reference in it resolves, and every operation with a body describes it', () => {
  const text = JSON.stringify(document)
  const components = document['components'] as Record<string, object>
  const dangling = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)].filter(
    ([, kind, name]) => !(name! in components[kind!]!),
  )
  assert.deepEqual([...new Set(dangling.map(([, , name]) => name))], [])
  const unshown = Object.values<Operation>(operations).filter((operation) => operation.consumes && !operation.body)
  assert.deepEqual(
    unshown.map(({ id }) => id),
    [],
  )
})

test('[HTTP-26] the reference shows every operation and every schema', () => {
  const page = reference(document as never as Spec)
  for (const { id, summary } of Object.values(operations)) {
    assert.ok(page.includes(`id="${id}"`), id)
    assert.ok(page.includes(summary), summary)
  }
  for (const name of Object.keys((document['components'] as { schemas: object }).schemas))
    assert.ok(page.includes(`id="schema-${name}"`), name)
})

for (const [code, { status, when, details }] of Object.entries(ERRORS)) {
  test(`[ERR-12] ${code} is in the reference with its status and details, and in the OpenAPI document`, () => {
    const row = reference(document as never as Spec)
      .split('<tr>')
      .find((text) => text.startsWith(`<td><code>${code}</code></td>`))
    assert.ok(row, 'a row of its own')
    assert.ok(row.includes(`<td>${status} · `), `status ${status}`)
    for (const name of Object.keys((details as { properties: object }).properties)) assert.ok(row.includes(name), name)
    assert.ok(row.includes(when))
    const { enum: codes } = (
      document as never as {
        components: { schemas: { Error: { properties: { error: { properties: { code: { enum: string[] } } } } } } }
      }
    ).components.schemas.Error.properties.error.properties.code
    assert.ok(codes.includes(code))
  })
}
