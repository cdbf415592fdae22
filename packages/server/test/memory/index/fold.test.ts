// Texts are compared by the simple case folding of Unicode.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold } from '../../../src/memory/index/fold.ts'

test('[MEM-13] folding is the simple case folding of Unicode, for every code point', () => {
  const classes = new Map<string, string>()
  for (let point = 0; point < 0x110000; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    const character = String.fromCodePoint(point)
    const folded = fold(character)
    // This runs a million times, and an assertion takes longer than the comparison.
    if (fold(folded) !== folded) assert.fail(`${character} is folded twice`)
    // Regular expressions that ignore case compare by simple folding.
    if (folded !== character) {
      assert.match(character, new RegExp(`^\\u{${folded.codePointAt(0)!.toString(16)}}$`, 'iu'))
      classes.set(folded, folded)
    }
  }
  // No two classes are the same: among all representatives each matches only itself.
  const all = [...classes.keys()].join('')
  for (const one of classes.keys())
    assert.deepEqual(all.match(new RegExp(`\\u{${one.codePointAt(0)!.toString(16)}}`, 'giu')), [one])
})

test('[MEM-13] folding, by example', () => {
  const same = [
    ['STRASSE', 'strasse'],
    ['ß', 'ẞ'],
    ['Σίσυφος', 'ΣΊΣΥΦΟΣ'],
    ['σς', 'ΣΣ'],
    ['Привет', 'ПРИВЕТ'],
    ['ſ', 'S'],
    ['K', 'k'],
    ['𐐀', '𐐨'],
    ['🙂', '🙂'],
  ]
  for (const [a, b] of same) assert.equal(fold(a!), fold(b!), `${a} ${b}`)
  for (const [a, b] of [
    ['ß', 'ss'],
    ['İ', 'i'],
    ['ı', 'I'],
    ['é', 'e'],
    ['é', 'e\u0301'],
  ])
    assert.notEqual(fold(a!), fold(b!), `${a} ${b}`)
})
