// The subjects of commits, which CONTRIBUTING.md bounds.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/root.ts'

const MOST_CHARACTERS = 72
/** Older ones were written before there was a check. A shallow clone has fewer, such as the newest alone. */
const LATEST = 50

/** The subjects of the latest commits; null without a history, as in a tarball or without git. */
function latestSubjects(): string[] | null {
  // Otherwise git would read the history of a repository around this folder.
  if (!existsSync(path.join(ROOT, '.git'))) return null
  const options = ['log', '--no-merges', '--no-show-signature', `--max-count=${LATEST}`, '--format=%an%x00%s']
  try {
    const commits = execFileSync('git', options, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const all = commits.split('\n').filter(Boolean)
    return all.flatMap((commit) => {
      const [author, subject] = commit.split('\0') as [string, string]
      // A bot names packages and a revert the commit, however long.
      return author.endsWith('[bot]') || subject.startsWith('Revert "') ? [] : [subject]
    })
  } catch {
    return null
  }
}

test(`the subject of a commit has at most ${MOST_CHARACTERS} characters`, (t) => {
  const subjects = latestSubjects()
  if (subjects === null) return t.skip('there is no history to read here')
  assert.deepEqual(
    subjects.filter((subject) => subject.length > MOST_CHARACTERS),
    [],
  )
})
