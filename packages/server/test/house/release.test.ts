// What the release workflow does when a step goes wrong: its own scripts, run as GitHub runs them, with an npm that
// does what a test says.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { bash } from '../support/process.ts'
import { ROOT } from '../support/root.ts'

const workflow = readFileSync(path.join(ROOT, '.github/workflows/release.yml'), 'utf8')
const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-release-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Without `shell: bash` GitHub runs a script with `bash -e`, in which a pipe succeeds if its last command does. */
const OPTIONS = /^ {4}defaults:\n {6}run:\n(?: {8}#.*\n)* {8}shell: bash$/m.test(workflow)
  ? ['--noprofile', '--norc', '-eo', 'pipefail']
  : ['-e']

/** Runs the steps from building to publishing until one fails, in a folder in which `npm` is this script. */
async function release(npm: string): Promise<{ code: number | null; published: string[] }> {
  writeFileSync(path.join(folder, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o700 })
  writeFileSync(path.join(folder, 'published'), '')
  let code: number | null = null
  for (const [i, name] of ['Build and pack', 'Publish'].entries()) {
    const step = workflow.slice(workflow.indexOf(`- name: ${name}\n`)).split('\n      - ')[0]!
    const [, block, line] = /^ {8}run: (?:\|\n((?: {10}.*\n)+)|(.+))/m.exec(step)!
    const file = path.join(folder, `step-${i}.sh`)
    writeFileSync(file, block ?? line!)
    ;({ code } = await bash(`cd ${folder} && PATH="${folder}:$PATH" bash ${OPTIONS.join(' ')} ${file}`))
    if (code !== 0) break
  }
  return { code, published: readFileSync(path.join(folder, 'published'), 'utf8').trim().split('\n').filter(Boolean) }
}

const PACK = 'test "$1" = run && printf "dist/a.tgz\\ndist/b.tgz\\n"'
const PUBLISH = 'test "$1" = publish && echo "$2" >> published'

test('[PKG-9] a release publishes what was packed, in that order', async () => {
  assert.deepEqual(await release(`${PACK} || { ${PUBLISH}; }`), { code: 0, published: ['dist/a.tgz', 'dist/b.tgz'] })
})

test('[PKG-9] a release fails if a package cannot be built or published, or if there is none', async () => {
  assert.deepEqual(await release(`${PACK} && exit 1; ${PUBLISH}`), { code: 1, published: [] }, 'built in part')
  assert.deepEqual(await release(`test "$1" = run || { ${PUBLISH}; }`), { code: 1, published: [] }, 'nothing packed')
  const refusing = await release(`${PACK} || { ${PUBLISH}; exit 1; }`)
  assert.deepEqual(refusing, { code: 1, published: ['dist/a.tgz'] }, 'refused by the registry')
})
