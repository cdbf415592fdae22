// No regular expression of ours takes more than linear work on a hostile text. Work is counted in steps, so a busy
// machine changes nothing.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { operations } from '@sensorium/contract'
import { regexLiterals } from '../support/regex-literals.ts'
import { isLinear, worstGrowth } from '../support/regex-steps.ts'
import { ROOT } from '../support/root.ts'

const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).sort()
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

/** Exempt expressions, with the reason why their input cannot be hostile and long. */
const ALLOWED = new Map([
  ['\\/+$', 'settings of the operator'],
  ['\\/\\* (sqlite|postgres): (.*?) \\*\\/', 'our own migrations'],
  ['^\\s*--.*$', 'our own migrations'],
  ['([^aeiouylsz])\\1$', 'looks at two characters of a word at each place'],
  ['\\[([^\\]]+)\\]\\([^)]*\\)', 'our own guides'],
  ['0+$', 'nine digits'],
  ['^[+-]?(?:0|(?:(?:\\d+\\.?\\d*|\\.\\d+)(?:h|ms|us|µs|ns|m|s))+)$', 'at most 64 characters, which is checked before'],
  ['(\\d*)\\.?(\\d*)(h|ms|us|µs|ns|m|s)', 'at most 64 characters, which is checked before'],
])

interface Known {
  where: string
  source: string
  flags: string
}

function literals(): Known[] {
  return files.flatMap((file) =>
    regexLiterals(read(file)).map(({ line, source, flags }) => ({ where: `${file}:${line}`, source, flags })),
  )
}

/** Expressions that are composed when a module is loaded. */
async function composed(): Promise<Known[]> {
  const found: Known[] = []
  const Native = globalThis.RegExp
  globalThis.RegExp = new Proxy(Native, {
    construct(target, [source, flags = '']: [string | RegExp, string?]) {
      if (typeof source === 'string') found.push({ where: 'put together', source, flags })
      return Reflect.construct(target, [source, flags])
    },
  })
  try {
    // A unique URL, so that the module is loaded again even if another test of this process has loaded it.
    for (const file of files)
      if (/^const \w+ = new RegExp\(/m.test(read(file)))
        await import(`${pathToFileURL(path.join(ROOT, file)).href}?anew`)
  } finally {
    globalThis.RegExp = Native
  }
  return found
}

/** Expressions in the schemas, by which every body and query is validated. */
function patterns(): Known[] {
  const found = new Set<string>()
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    for (const [name, value] of Object.entries(part)) {
      if (name === 'pattern' && typeof value === 'string') found.add(value)
      else walk(value)
    }
  }
  walk(operations)
  return [...found].map((source) => ({ where: 'a schema', source, flags: 'u' }))
}

test('the measurement tells linear growth from worse', () => {
  for (const source of ['^[a-z]+$', 'a+', '^[^,]*,', '^\\s*x', '^(?:ab)+c', '^(?:a|b)*$', 'x[0-9]{1,64}y', '^a*b*$'])
    assert.ok(isLinear(worstGrowth(source, '')), source)
  for (const source of [
    '\\s+$',
    '^(a+)+$',
    '^(a|a)*$',
    '^a*a*$',
    '^\\s*charset\\s*=\\s*"?([^"\\s]*)"?\\s*$',
    '^x?(\\w+)*-',
    '=[^;]*;[^;]*$',
    '^(.+?) after \\d+ times? over [^;]*(?:; last: ([^]*))?$',
    '^.*,[^;]*$',
  ])
    assert.ok(!isLinear(worstGrowth(source, '')), source)
})

test('the source reader finds every regular expression, and no division', () => {
  const text =
    'const a = b / c / d; x.replace(/[/"]+/gu, `${y / 2}${/z}/.test("/")}`) // /no/\nif (n! / 2) /* /no/ */ return /yes/'
  assert.deepEqual(
    regexLiterals(text).map(({ source, flags, line }) => [source, flags, line]),
    [
      ['[/"]+', 'gu', 1],
      ['z}', '', 1],
      ['yes', '', 2],
    ],
  )
})

test('[SAFE-13] every regular expression of ours takes linear work: twice the text, twice the work', async () => {
  const known = [...literals(), ...(await composed()), ...patterns()]
  assert.ok(known.length > 80, `${known.length}`)
  const worse: string[] = []
  for (const { where, source, flags } of known) {
    if (ALLOWED.has(source)) continue
    const growth = worstGrowth(source, flags)
    if (!isLinear(growth))
      worse.push(`${where} /${source}/${flags}: ${growth.growth.toFixed(1)} on ${JSON.stringify(growth.input)}`)
  }
  assert.deepEqual(worse, [])
})
