// Export and import of memories by the commands, against a real service.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { sensorium } from '../support/process.ts'
import { startService, type Service } from '../support/service.ts'

onBothEngines((engine) => {
  let service: Service
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-transfer-'))
  before(async () => {
    service = await startService(engine, {}, fakeClock(Date.now()))
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const file = (name: string): string => path.join(folder, name)

  test('[KEP-10] memories go through a file to another tenant; a repeat skips, refused lines are shown', async () => {
    const as = async () => {
      const tenant = await service.tenant()
      const env = { HOME: folder, XDG_CONFIG_HOME: folder, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }
      return (...args: string[]) => sensorium(args, env)
    }
    // Characters that end lines in other formats, or that a terminal must not receive unescaped.
    const content = 'Kept.\u2028\u2029\u200f\u202e\u0085'
    const lines = Array.from({ length: 220 }, (_, i) =>
      JSON.stringify({ id: `n-${i}`, type: 'semantic', scope: 'agent', title: `Note ${i}`, content }),
    )
    const link = { source_memory_id: 'n-0', target_memory_id: 'n-219', relationship_type: 'part_of' }
    writeFileSync(file('given'), `${[...lines, JSON.stringify(link)].join('\n')}\n`)
    const here = await as()
    const first = await here('memories', 'import', file('given'))
    // On a busy machine a piece may be sent again, and then skips the lines of the first attempt.
    const taken = (stdout: string): number => {
      const [, created, skipped] = /^(\d+) created, 0 updated, (\d+) skipped, 0 refused\.\n$/.exec(stdout) ?? []
      return Number(created) + Number(skipped)
    }
    assert.equal(taken(first.stdout), 221, first.stdout + first.stderr)
    assert.equal(first.code, 0)
    const shown = first.stderr.trim().split('\n')
    assert.ok(shown.length >= 2, first.stderr)
    assert.match(shown.at(-1)!, /100% {2}\d+ of \d+ KiB$/)

    const out = await here('memories', 'export', file('out'))
    assert.equal(out.stdout, `220 memories and 1 relationship are in ${file('out')}.\n`)
    assert.equal(statSync(file('out')).mode & 0o777, 0o600)
    assert.equal((await here('memories', 'export', file('out'))).code, 2)
    const piped = await here('memories', 'export', '-')
    const parsed = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { content: string })
    assert.deepEqual(parsed(piped.stdout), parsed(readFileSync(file('out'), 'utf8')))
    assert.equal(parsed(piped.stdout)[0]!.content, content)
    assert.doesNotMatch(piped.stdout, /[\u200f\u202e\u0085]/)

    const there = await as()
    assert.equal(taken((await there('memories', 'import', file('out'))).stdout), 221)
    assert.match((await there('memories', 'import', file('out'))).stdout, /^0 created, 0 updated, 221 skipped, /)
    const list = JSON.parse((await there('memories', 'list', '--limit', '1', '--json')).stdout) as { total: number }
    assert.equal(list.total, 220)

    writeFileSync(file('bad'), `${lines[0]}\n{"title":7}\n`)
    const bad = await here('memories', 'import', file('bad'))
    assert.equal(bad.code, 1)
    assert.match(bad.stdout, /^line 2: .+\n0 created, 0 updated, 1 skipped, 1 refused\.\n$/)
    assert.equal((await here('memories', 'import', file('nowhere'))).code, 2)

    writeFileSync(file('out.gz'), gzipSync(readFileSync(file('out'))))
    const compressed = await here('memories', 'import', file('out.gz'))
    assert.deepEqual([compressed.code, compressed.stderr.includes('gunzip')], [2, true])
  })
})
