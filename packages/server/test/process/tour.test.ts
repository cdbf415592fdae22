// The README's tour and the guides as pasted: every `bash` block in them, in order, in one shell, on a new service.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { bash, startProcess } from '../support/process.ts'
import { ROOT } from '../support/root.ts'

const PAGES = [
  'README.md',
  'docs/README.md',
  'docs/events.md',
  'docs/push-and-streams.md',
  'docs/dead-letters.md',
  'docs/channels.md',
  'docs/memory.md',
  'docs/ingest.md',
  'docs/operations.md',
]
const ADDRESS = 'http://localhost:8080'

const blocksOf = (page: string): string[] =>
  [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```bash\n([^]*?)^```$/gm)].map(([, block]) => block!)

test('[DOC-9] the tour and the guides work as pasted', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  // The receivers in the examples listen on this machine.
  const service = await startProcess({ ...env, PUSH_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'warn' })
  t.after(() => service.stop())

  // All of it runs twice, because it must also work when it is pasted again.
  const blocks = [...PAGES, ...PAGES].flatMap((page) =>
    blocksOf(page).map((block, i) => `echo; echo '### ${page}, block ${i + 1}'\n${block}`),
  )
  // Runs what npx would find, without a second of npm for each command.
  const npx = `npx() { '${ROOT}/node_modules/.bin/'"$1" "\${@:2}"; }`
  const script = ['set -euo pipefail', `cd '${ROOT}'`, npx, ...blocks].join('\n').replaceAll(ADDRESS, service.url)
  const { code, stdout, stderr } = await bash(script, { ...env, HOME: process.env['HOME'] ?? ROOT })
  const where = `${stdout}\n${stderr}`.slice(-4000)
  assert.equal(code, 0, where)
  assert.doesNotMatch(stdout, /"error":\{/, where)

  const said = (page: string): string => stdout.split(`### ${page}, `).slice(1).join('')
  const tour = stdout.slice(0, stdout.indexOf('### docs/'))
  assert.match(tour, /"title":"Pump 7 runs hot since its rebuild"/, 'found by its meaning')
  assert.match(tour, /"event_id":"reading-1-[\d-]+","status":"accepted","recipients":1/)
  assert.match(tour, /"event_id":"reading-2-[\d-]+","status":"accepted","recipients":0/)
  // On a busy machine a delivery may go out before its search is done, so one of the two times is enough.
  assert.match(said('README.md'), /"enrichment":\{"depth":"light","memories":\[\{"id":"mem_/)
  assert.match(tour, /\{"acknowledged":1\}/)
  assert.match(tour, /"state":"acknowledged"/)
  assert.match(tour, /the filter is false/)
  const again = stdout.slice(stdout.lastIndexOf('### README.md, block 1'))
  assert.match(again, /"event_id":"reading-1-[\d-]+","status":"accepted"/, 'pasted again')
  assert.match(again, /\{"acknowledged":1\}/)
  assert.doesNotMatch(stdout, /"status":"duplicate"/, 'no id is published twice')
  assert.match(said('docs/events.md'), /"dlq_reason":"the ledger is closed"[^]*"status":"replayed"/)
  assert.match(said('docs/push-and-streams.md'), /pushed and verified: test-[^]*event: delivery[^]*streamed: /)
  assert.match(said('docs/channels.md'), /"event_id":"door-1-[\d-]+","status":"accepted","recipients":2/)
  assert.match(said('docs/memory.md'), /"signals":\{[^]*"cumulative_strength":0.8/)
  assert.match(said('docs/ingest.md'), /"type":"com.shop.order.created"/)
})

test('[DOC-9] a helper of the tour takes no field from an error, and shows it', async () => {
  const [helpers] = blocksOf('README.md')
  const expired = '{"error":{"code":"authentication_failed","message":"expired"}}'
  const { code, stdout, stderr } = await bash(`${helpers}\nset -o pipefail\necho '${expired}' | json id`)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /authentication_failed/)
})
