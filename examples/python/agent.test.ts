// Runs the Python agent with the machine's python3, if there is one.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ADMIN_KEY, startService } from '../start-service.ts'

const AGENT = path.join(import.meta.dirname, 'agent.py')
const hasPython = spawnSync('python3', ['--version']).status === 0

test('[DOC-10] an agent in Python handles events that its filter matches, and remembers them', async (t) => {
  if (!hasPython) return t.diagnostic('there is no python3 on this machine')
  const { stdout } = await promisify(execFile)('python3', [AGENT, await startService(t), ADMIN_KEY])
  assert.match(stdout, /handled \[240\] and remembered A large order/)
})
