import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { FUNCTIONS } from '../src/functions.ts'
import { MACRO_NAMES } from '../src/macros.ts'
import { DEVIATIONS, LEFT_OUT } from './deviations.ts'
import { cases } from './support/conformance.ts'

const page = readFileSync(path.resolve(import.meta.dirname, '../README.md'), 'utf8')
const words = new Set(page.match(/[A-Za-z_0-9]+/g))

test('[CEL-8] the README names every function and macro', () => {
  const names = [...FUNCTIONS.keys(), ...MACRO_NAMES].map((name) => name.split('.').at(-1)!)
  assert.ok(names.length > 80)
  assert.deepEqual(
    names.filter((name) => !words.has(name)),
    [],
  )
})

test('[CEL-8] the README counts the deviations', () => {
  const tried = cases.filter((one) => !LEFT_OUT.some(({ applies }) => applies(one))).length
  const listed = Object.values(DEVIATIONS).flat().length
  assert.ok(page.includes(`Of the ${tried.toLocaleString('en-US')} remaining cases, ${listed} differ on purpose`))
})
