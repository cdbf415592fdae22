// A comment above each statement says what it does, what it locks and what it returns. Most stand in the sql.ts files
// of their features, where the comment may also be within the function of several. Elsewhere it is close above the SQL.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const SRC = path.resolve(import.meta.dirname, '../../src')
const STATEMENT = /\.(?:rows|run|runLater|runLast|lookUp|insertMany|insertLater|move)[<(]|\bone[<(]/
const DECLARATION = /^(?:export )?(?:async )?(?:const|function) (\w+)/

/** Returns the functions of a file that run a statement, each with the line above it and its own text. */
function statementsOf(file: string): { name: string; above: string; text: string }[] {
  const lines = readFileSync(path.join(SRC, file), 'utf8').split('\n')
  return lines.flatMap((line, start) => {
    const name = DECLARATION.exec(line)?.[1]
    if (name === undefined) return []
    const length = lines
      .slice(start + 1)
      .findIndex((next) => DECLARATION.test(next) || /^(?:\/[*/]|export )/.test(next))
    const text = lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n')
    return STATEMENT.test(text) ? [{ name, above: lines[start - 1] ?? '', text }] : []
  })
}

test('a comment above each statement says what it does', () => {
  const files = globSync('**/*sql.ts', { cwd: SRC })
  const statements = files.flatMap((file) => statementsOf(file).map((one) => ({ ...one, file })))
  assert.ok(statements.length > 50, `${statements.length} statements are found`)
  const bare = statements.filter(
    ({ above, text }) => !/(?:\*\/|^\/\/.*)$/.test(above) && !/^\s+(?:\/\/|\/\*\*)/m.test(text),
  )
  assert.deepEqual(
    bare.map(({ file, name }) => `${file}: ${name}`),
    [],
  )
})

const SQL = /[`'"](?:with (?:recursive )?\w+ |select |insert (?:or \w+ )?into |update \w+|delete from |analyze)/
const COMMENT = /^\s*(?:\/\/|\/\*\*|\*)/
/** How many lines above its SQL the comment of a statement may end, without a blank line between them. */
const CLOSE = 13

/** Returns the lines of a file that begin a statement, each with those close above it. */
function sqlIn(file: string): { place: string; above: string[] }[] {
  const lines = readFileSync(path.join(SRC, file), 'utf8').split('\n')
  return lines.flatMap((line, at) => {
    if (!SQL.test(line) || COMMENT.test(line)) return []
    const near = lines.slice(Math.max(0, at - CLOSE), at)
    return [{ place: `${file}:${at + 1}`, above: near.slice(near.lastIndexOf('') + 1) }]
  })
}

test('a comment is close above the SQL of statements that stand elsewhere', () => {
  const elsewhere = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('sql.ts'))
  const statements = elsewhere.flatMap(sqlIn)
  assert.ok(statements.length > 100, `${statements.length} statements are found`)
  const bare = statements.filter(({ above }) => !above.some((line) => COMMENT.test(line)))
  assert.deepEqual(
    bare.map(({ place }) => place),
    [],
  )
})
