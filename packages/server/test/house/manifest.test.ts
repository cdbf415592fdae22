// Requirements are data: every rule of the interface has an id, and every id is cited by a test.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

const REQUIREMENTS = path.join(ROOT, 'packages/contract/requirements')

interface Requirement {
  id: string
  rule: string
}

const areas = globSync('*.json', { cwd: REQUIREMENTS })
  .sort()
  .map((file) => ({
    name: path.basename(file, '.json'),
    rules: JSON.parse(readFileSync(path.join(REQUIREMENTS, file), 'utf8')) as Requirement[],
  }))

/** A title is a text that begins with ids in brackets: `[STO-4][CFG-1] …`. */
function citations(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of globSync(['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts'], {
    cwd: ROOT,
    exclude: (name) => name.includes('node_modules'),
  })) {
    const text = readFileSync(path.join(ROOT, file), 'utf8')
    for (const [, ids] of text.matchAll(/['"`]((?:\[[A-Z]+(?:-[A-Z0-9]+)+\]\s?)+)/g)) {
      for (const [, id] of ids!.matchAll(/\[([A-Z]+(?:-[A-Z0-9]+)+)\]/g))
        found.set(id!, [...(found.get(id!) ?? []), file])
    }
  }
  return found
}

test('every rule has a unique id', () => {
  const ids = areas.flatMap(({ rules }) => rules.map(({ id }) => id))
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
  )
  for (const id of ids) assert.match(id, /^[A-Z]+(?:-[A-Z0-9]+)+$/)
  for (const { rules } of areas) for (const { rule } of rules) assert.ok(rule.length > 10)
})

test('every id that a test cites exists', () => {
  const known = new Set(areas.flatMap(({ rules }) => rules.map(({ id }) => id)))
  const unknown = [...citations()].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${files[0]}`)
  assert.deepEqual(unknown, [])
})

for (const { name: area } of areas) {
  test(`every rule of ${area} is cited by a test`, () => {
    const cited = citations()
    const { rules } = areas.find(({ name }) => name === area)!
    assert.deepEqual(
      rules.filter(({ id }) => !cited.has(id)).map(({ id }) => id),
      [],
    )
  })
}
