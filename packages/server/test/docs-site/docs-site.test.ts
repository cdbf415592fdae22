// /docs as a browser gets it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { openapi, operations } from '@sensorium/contract'
import { curlOf, sdkOf } from '../../src/docs-site/samples.ts'
import { OWN_HEADER } from '../../src/ingest/webhooks/signature.ts'
import { operationsOf, type Spec } from '../../src/docs-site/spec.ts'
import { compileErrors } from '../support/compile-errors.ts'
import { sqlite } from '../support/engines.ts'
import { ROOT } from '../support/root.ts'
import { serviceForSuite } from '../support/service.ts'

const spec = openapi(Object.values(operations)) as never as Spec

const service = serviceForSuite(sqlite)

// Bodies are read to their end: otherwise the client holds its socket until the response is garbage-collected.
async function get(url: string, accept = '*/*'): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(service.url + url, { headers: { accept }, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('[DOC-5] the root redirects browsers to the documentation and programs to openapi.json', async () => {
  const person = await get('/', 'text/html,application/xhtml+xml,*/*;q=0.8')
  assert.equal(person.status, 302)
  assert.equal(person.headers.get('location'), '/docs')
  const program = await get('/')
  assert.equal(program.status, 200)
  assert.equal(program.headers.get('vary'), 'accept')
  const links = JSON.parse(program.text) as { openapi: string; documentation: string }
  assert.equal(links.openapi, '/openapi.json')
  assert.equal((await get(links.openapi)).status, 200)
})

test('[DOC-6] every page of the site is there, and its policy allows nothing inline', async () => {
  const home = (await get('/docs')).text
  const pages = new Set([...home.matchAll(/href="(\/docs\/[\w.-]+)"/g)].map(([, href]) => href!))
  for (const name of ['/docs/overview', '/docs/events', '/docs/memory', '/docs/site.css'])
    assert.ok(pages.has(name), name)
  for (const url of ['/docs', '/docs/site.js', ...pages]) {
    const response = await get(url)
    assert.equal(response.status, 200, url)
    const policy = response.headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'; script-src 'self'/)
    assert.doesNotMatch(policy, /unsafe/)
    const { text } = response
    if (!response.headers.get('content-type')!.startsWith('text/html')) continue
    assert.doesNotMatch(
      text,
      /<style|<script(?! src=)|\son\w+="|\sstyle="|(?:src|href)="(?:\/\/|http)[^"]*\.(?:js|css)"/,
      url,
    )
    for (const [, to] of text.matchAll(/(?:href|src)="(\/docs\/[^"#]+)/g))
      assert.equal((await get(to!)).status, 200, `${to} in ${url}`)
  }
})

test('[DOC-6] the first page says of each guide what the list of guides says of it', async () => {
  const home = (await get('/docs')).text
  assert.match(home, /href="\/docs\/mcp"><b>[^<]+<\/b><span>The mailbox and the memory as tools of a chat client</)
  assert.match(home, /href="\/docs\/overview"><b>Overview<\/b><span>[A-Z][^<]{20,}</)
})

test('[DOC-6] a guide leads to the client and to the functions of filters, and says where other files are', async () => {
  const leads = async (page: string, to: string): Promise<void> =>
    assert.ok((await get(page)).text.includes(`href="${to}"`), `${to} in ${page}`)
  await leads('/docs/filters', '/docs/cel')
  await leads('/docs/operations', '/docs/sdk#workers')
  const { text } = await get('/docs/push-receivers')
  assert.match(text, /receiver\.ts \(<code>examples\/push-receiver\/receiver\.ts<\/code> in the repository\)/)
  assert.match((await get('/docs/mcp')).text, /<p>examples\/mcp-loop is a runnable/)
})

test('[DOC-6] a browser gets a page that leads back where there is none, and a program the error', async () => {
  const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'
  for (const url of ['/docs/nothing', '/docs/', '/docs/events/', '/docs/a/b%3Cscript%3E?q=1', '/docs/%6fverview']) {
    const page = await get(url, browser)
    assert.equal(page.status, 404, url)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', url)
    assert.match(page.headers.get('content-security-policy')!, /default-src 'none'/)
    assert.match(page.text, /<h1>No such page<\/h1>.*<a href="\/docs">/s)
    assert.doesNotMatch(page.text, /nothing|<script(?! src=)/)
    for (const accept of ['*/*', 'application/json']) {
      const program = await get(url, accept)
      assert.deepEqual([program.status, program.headers.get('content-type')], [404, 'application/json; charset=utf-8'])
      const resource_id = url.split('?')[0]
      assert.deepEqual(JSON.parse(program.text).error, {
        code: 'not_found',
        message: 'There is no such path',
        request_id: program.headers.get('x-request-id'),
        details: { resource_type: 'path', resource_id },
      })
    }
  }
  const others: [string, string, number][] = [
    ['GET', '/nothing', 404],
    ['GET', '/docsnothing', 404],
    ['POST', '/docs/nothing', 404],
    ['POST', '/docs/events', 405],
  ]
  for (const [method, url, status] of others) {
    const response = await fetch(service.url + url, { method, headers: { accept: browser } })
    assert.equal(response.status, status, `${method} ${url}`)
    assert.match(await response.text(), /^\{"error":/, `${method} ${url}`)
  }
  const head = await fetch(`${service.url}/docs/nothing`, { method: 'HEAD', headers: { accept: browser } })
  assert.deepEqual([head.status, head.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
})

test('[DOC-7] an operation is folded up with its samples, its errors and a form to try it', async () => {
  const home = (await get('/docs')).text
  for (const shown of operationsOf(spec)) {
    const { operationId } = shown.operation
    const own = home.split(`<details class="op" id="${operationId}"`)[1]?.split('</details>')[0]
    assert.ok(own, operationId)
    assert.ok(own.includes('<figcaption>curl</figcaption>'), operationId)
    assert.ok(own.includes(`data-method="${shown.method.toUpperCase()}"`), operationId)
    assert.match(curlOf(shown, spec), /^curl 'http[^{}]+'/, operationId)
    if (shown.path.startsWith('/ingest/')) assert.ok(curlOf(shown, spec).includes(`"${OWN_HEADER}: `), operationId)
    const has422 = own.includes('business_rule_violation')
    assert.equal(has422, '422' in shown.operation.responses, `${operationId}: only its own errors`)
  }
})

test('[DOC-7] the samples of the client compile', async (t) => {
  // Inside the repository, so that the import of the client resolves as it does for its users.
  const folder = mkdtempSync(path.join(ROOT, 'packages/server/test/samples-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const samples = operationsOf(spec).flatMap((shown) => {
    const sample = shown.operation.operationId === 'exchangeKey' ? null : sdkOf(shown, spec)
    return sample === null ? [] : [`async () => {\n${sample}\n},`]
  })
  assert.ok(samples.length > 50)
  const file = path.join(folder, 'samples.ts')
  const head =
    "import { createClient } from '@sensorium/client'\nconst client = createClient({ url: '', apiKey: '' })\n"
  writeFileSync(file, `${head}export const all = [\n${samples.join('\n')}\n]\n`)
  const options = ['--strict', '--module', 'nodenext', '--target', 'esnext', '--allowImportingTsExtensions']
  assert.equal(await compileErrors(file, [...options, '--types', 'node']), '')
})

test('[DOC-8] the search looks through guides and operations', async () => {
  const index = JSON.parse((await get('/docs/search.json')).text) as { title: string; href: string; text: string }[]
  const hrefs = index.map(({ href }) => href)
  assert.ok(hrefs.includes('/docs#publishEvent'))
  assert.ok(hrefs.some((href) => href.startsWith('/docs/memory#')))
  assert.ok(index.some(({ text }) => text.includes('lease')))
  // Excerpts are shown to people, so they contain no markup of tables, code and emphasis.
  assert.deepEqual(
    index.filter(({ title, text }) => /\|\s*-{3}|```|`|\*\*/.test(title + text)).map(({ href }) => href),
    [],
  )
})
