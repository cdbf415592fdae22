// Request bodies that are kept in a file while they arrive.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite } from '../support/service.ts'

const service = serviceForSuite(sqlite)

test('[KEP-8] while no file can be created an import is refused with 503, and accepted later', async () => {
  const { token } = await (await service.tenant()).agent({ scopes: ['memory:write'] })
  const line = { type: 'semantic', scope: 'agent', title: 'kept', content: 'in a file' }
  const request = { token, headers: { 'content-type': 'application/x-ndjson' }, raw: JSON.stringify(line) }
  const folder = process.env['TMPDIR']
  process.env['TMPDIR'] = '/dev/null/nowhere'
  try {
    assertError(await service.call('POST /v1/memories/import', request), 'service_unavailable')
  } finally {
    if (folder === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = folder
  }
  assert.equal((await service.call('POST /v1/memories/import', request)).body.created, 1)
})
