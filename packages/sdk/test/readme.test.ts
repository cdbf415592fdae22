// The table of calls in the README is complete.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'

const README = readFileSync(path.join(path.dirname(import.meta.dirname), 'README.md'), 'utf8')

test('[SDK-1] the README lists every call of every group', () => {
  const section = README.slice(README.indexOf('## The calls'), README.indexOf('## Workers'))
  const namesIn = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name!).sort()
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, group, calls]) => [group, namesIn(calls!)])
  const members = Object.entries(createClient({ url: 'http://service', token: 't' }))
  const groups = members.filter(([, member]) => typeof member === 'object')
  assert.deepEqual(
    Object.fromEntries(rows),
    Object.fromEntries(groups.map(([name, calls]) => [name, Object.keys(calls).sort()])),
  )
  const direct = members.filter(([, member]) => typeof member === 'function').map(([name]) => name)
  assert.deepEqual(namesIn(/^Directly on the client are .*$/m.exec(section)![0]), direct.sort())
})
