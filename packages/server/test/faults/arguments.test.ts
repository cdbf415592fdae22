// The arguments of a fault run. One that breaks nothing must not look like one that found nothing.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { bash } from '../support/process.ts'

const RUN = fileURLToPath(new URL('../../../../faults/run.ts', import.meta.url))

test('[FLT-4] a fault run fails if its arguments choose nothing', async () => {
  for (const [args, says] of [
    ['nosuch', /^No scenario has nosuch in its name\. There are: .*a node is killed/],
    ['killed nosuch', /^No scenario has nosuch in its name/],
    ['--engine postgresql killed', /^--engine takes sqlite or postgres, not postgresql\n/],
    ['--rounds ten killed', /^--rounds takes a number from 1 on, not ten\n/],
    ['--rounds 0 killed', /^--rounds takes a number from 1 on, not 0\n/],
    ['--engine sqlite crashes', /^Nothing ran\n/],
    ['--short full', /^Nothing ran\n/],
  ] as const) {
    const { code, stderr } = await bash(`${process.execPath} ${RUN} ${args}`)
    assert.equal(code, 1, args)
    assert.match(stderr, says, args)
  }
})
