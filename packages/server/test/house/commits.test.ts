// The subjects of commits, which CONTRIBUTING.md bounds.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../support/root.ts'

const MOST_CHARACTERS = 72
/** Older ones were written before there was a check. A shallow clone has fewer, such as the newest alone. */
const LATEST = 50

/** The subjects of the latest commits; null without a history, as in a tarball or without git. */
function latestSubjects(folder: string): string[] | null {
  // Otherwise git would read the history of a repository around this folder.
  if (!existsSync(path.join(folder, '.git'))) return null
  // Raw, because a shallow clone hides the parents of its oldest commit from all other formats and from --no-merges.
  const options = ['log', '-z', '--no-merges', '--no-show-signature', `--max-count=${LATEST}`, '--format=raw']
  try {
    const commits = execFileSync('git', options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return commits.split('\0').flatMap((commit) => {
      const [head, message = ''] = commit.split('\n\n    ')
      const subject = message.split('\n    \n')[0]!.replaceAll(/\n */g, ' ').trim()
      const isMerge = head!.match(/^parent /gm)?.length === 2
      // GitHub's merge for a pull request names two commits, a bot packages and a revert the commit, however long.
      return isMerge || /^author .*\[bot\] </m.test(head!) || subject.startsWith('Revert "') ? [] : [subject]
    })
  } catch {
    return null
  }
}

test('a merge whose parents a shallow clone has cut off is no commit of ours', (t) => {
  if (latestSubjects(ROOT) === null) return t.skip('there is no git here')
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-commits-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const as = ['-c', 'user.name=A', '-c', 'user.email=a@b.example', '-c', 'commit.gpgSign=false', '-C', folder]
  const git = (...args: string[]): void => void execFileSync('git', [...as, ...args], { stdio: 'ignore' })
  const commit = (message: string): void => git('commit', '--allow-empty', '-m', message)
  const shallow = (name: string): string => {
    git('clone', '--depth=1', pathToFileURL(folder).href, name)
    return path.join(folder, name)
  }
  git('init', '--initial-branch=main')
  commit('One line\nand another')
  assert.deepEqual(latestSubjects(shallow('one')), ['One line and another'])
  git('checkout', '-b', 'side')
  commit('Side')
  git('checkout', 'main')
  const hash = 'a'.repeat(40)
  git('merge', '--no-ff', '-m', `Merge ${hash} into ${hash}`, 'side')
  assert.deepEqual(latestSubjects(shallow('merge')), [])
})

test(`the subject of a commit has at most ${MOST_CHARACTERS} characters`, (t) => {
  const subjects = latestSubjects(ROOT)
  if (subjects === null) return t.skip('there is no history to read here')
  assert.deepEqual(
    subjects.filter((subject) => subject.length > MOST_CHARACTERS),
    [],
  )
})
