import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outcome, outcomeOf, program, type Outcome } from './support/filter.ts'

/** Returns the numbers that any Map or Set was given during a run. */
function numbersHashed(run: () => void): unknown[] {
  const numbers: unknown[] = []
  const patches: (readonly [on: object, name: string])[] = [
    [Map.prototype, 'set'],
    [Map.prototype, 'get'],
    [Map.prototype, 'has'],
    [Set.prototype, 'add'],
    [Set.prototype, 'has'],
  ]
  const originals = patches.map(([on, name]) => (on as never)[name] as (...args: unknown[]) => unknown)
  patches.forEach(([on, name], i) => {
    ;(on as Record<string, unknown>)[name] = function (this: unknown, ...args: unknown[]): unknown {
      if (typeof args[0] === 'number' || typeof args[0] === 'bigint') numbers.push(args[0])
      return originals[i]!.apply(this, args)
    }
  })
  try {
    run()
  } finally {
    patches.forEach(([on, name], i) => ((on as Record<string, unknown>)[name] = originals[i]))
  }
  return numbers
}

const data = { l: [5, 3, 9007199254740993n, 2.5, -0], k: ['a', '#1', '1', '##'], n: 3, m: { 1: 'x', '#1': 'y' } }

const sources: readonly [source: string, expected: boolean][] = [
  ['[5, 3, 9007199254740993].transformMapEntry(i, v, {v: i}) == {5: 0, 3: 1, 9007199254740993: 2}', true],
  ['l.transformMap(i, v, v)[2] == 9007199254740993', true],
  ['l.transformMap(i, v, v).all(i, v, i in [0, 1, 2, 3, 4])', true],
  ['n in [1, 2, 3.0, 9007199254740993]', true],
  ['9007199254740993 in [1, 2.5, 9007199254740993u]', true],
  ['l.exists(x, x in [7, 8, 2.5])', true],
  ['n in {1: 1, 3u: 2} && !(n in {"3": 1}) && n in l', true],
  ['{1: "a", 1u: "b"}.size() == 1', false],
  ['{"#1": 1, 1: 2, "1": 3, "##1": 4, true: 5} == {1: 2, "##1": 4, "#1": 1, true: 5, "1": 3}', true],
  ['{"#1": 1, 1: 2}["#1"] == 1 && {"#1": 1, 1: 2}[1] == 2 && {"#1": null}["#1"] == null', true],
  ['k.transformMapEntry(i, v, {v: i}).map(x, x) == k', true],
  ['m.transformMap(key, v, key).all(a, b, a == b) && m["#1"] == "y"', true],
  ['has({"#a": {"b": 1}}["#a"].b) && {"#a": 1}[?"#a"].hasValue()', true],
  ['"%s".format([{"#1": 1, 20: 2, 3: 3}]) == "{#1: 1, 20: 2, 3: 3}"', true],
]

test('[CEL-21] numbers are keys of maps and elements of lists, and none is hashed', () => {
  for (const [source, expected] of sources) {
    let found: Outcome | undefined
    const hashed = numbersHashed(() => {
      found = outcomeOf(program(source), data)
    })
    assert.deepEqual([found?.outcome === 'match', hashed], [expected, []], `${source}: ${JSON.stringify(found)}`)
  }
})

test('[CEL-21] NaN is in no list', () => {
  for (const source of ['double("NaN") in [double("NaN")]', 'x in [1, double("NaN"), 2.5, 3]', 'x in [x]'])
    assert.deepEqual(outcome(source, { x: Number.NaN }), { outcome: 'no_match', value: false }, source)
})

test('[CEL-21] a map shows its keys as they are', () => {
  assert.deepEqual(outcome('{"#1": 1, 20: 2, "##": 3, true: 4, 9007199254740993: 5}', {}), {
    outcome: 'no_match',
    value: { '#1': 1, '20': 2, '##': 3, true: 4, '9007199254740993': 5 },
  })
  assert.deepEqual(outcome('{1: 1, 1u: 2}', {}), { outcome: 'error', message: 'key "1" stands twice in a map' })
  assert.deepEqual(outcome('{"#": 1, "#": 2}', {}), { outcome: 'error', message: 'key "#" stands twice in a map' })
  assert.deepEqual(outcome('{"a": 1}["#1"]', {}), { outcome: 'error', message: 'no such key: "#1"' })
})
