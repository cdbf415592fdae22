// Every export is used by another file: what only its own file uses should not be exported, nor a name of another file
// that everybody imports from there.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

// The client and the contract are not checked: they export for their users.
const OURS = ['server', 'cel', 'console'].map((name) => `packages/${name}/src/**/*.{ts,tsx}`)
const EVERYWHERE = ['packages/*/{src,test,bin}/**/*.{ts,tsx,js}', '{bench,faults,scripts,examples}/**/*.{ts,mjs}']

const find = (patterns: readonly string[]): string[] =>
  globSync(patterns, { cwd: ROOT, exclude: (name) => name.split(path.sep).includes('node_modules') })
/** The name in a part of an import or export, such as `type A as B`. */
const nameOf = (part: string): string => /^(?:type )?(\w+)/.exec(part.trim())?.[1] ?? ''
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

/** How many files contain a word: an export that occurs in one file occurs only in its own. */
const filesWith = new Map<string, number>()
for (const file of find(EVERYWHERE))
  for (const word of new Set(read(file).match(/\b[A-Za-z_]\w*\b/g))) filesWith.set(word, (filesWith.get(word) ?? 0) + 1)

/** What other files import: `file: name`, or the file alone if it is imported as a whole. */
const imported = new Set(
  find(EVERYWHERE).flatMap((file) => {
    const text = read(file)
    const target = (from: string): string => path.join(path.dirname(file), from)
    return [
      ...[...text.matchAll(/^(?:im|ex)port (?:type )?\{([^}]*)\} from '(\.[^']*)'/gm)].flatMap(([, names, from]) =>
        names!.split(',').map((name) => `${target(from!)}: ${nameOf(name)}`),
      ),
      ...[...text.matchAll(/^(?:im|ex)port \* .*from '(\.[^']*)'|\bimport\('(\.[^']*)'\)/gm)].map(([, all, whole]) =>
        target((all ?? whole)!),
      ),
    ]
  }),
)

test('every exported function, constant and type is imported by another file', () => {
  // What is taken from a file that is imported as a whole is at least named elsewhere.
  const isUsed = (file: string, name: string): boolean =>
    imported.has(`${file}: ${name}`) || (imported.has(file) && filesWith.get(name)! > 1)
  const unused = find(OURS).flatMap((file) =>
    [...read(file).matchAll(/^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm)]
      .filter(([, name]) => !isUsed(file, name!))
      .map(([, name]) => `${file}: ${name}`),
  )
  assert.deepEqual(unused, [])
})

test('every name that a file passes on is imported from it', () => {
  const passedOn = find(OURS)
    // The index of a package passes on what its users import.
    .filter((file) => path.basename(file) !== 'index.ts')
    .flatMap((file) =>
      [...read(file).matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].flatMap(([, names]) =>
        names!.split(',').map((name) => `${file}: ${nameOf(name)}`),
      ),
    )
  assert.deepEqual(
    passedOn.filter((one) => !imported.has(one)),
    [],
  )
})
