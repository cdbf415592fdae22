// Runs the Python agent with the machine's python3, if there is one.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ADMIN_KEY, startService } from '../start-service.ts'

const AGENT = path.join(import.meta.dirname, 'agent.py')
const hasPython = spawnSync('python3', ['--version']).status === 0

test('[DOC-10] the Python class exchanges its key again when its token has ended', async (t) => {
  if (!hasPython) return t.diagnostic('there is no python3 on this machine')
  const program = [
    'import sys, urllib.error; from agent import Sensorium',
    'client = Sensorium(sys.argv[1], sys.argv[2]); client.token = "ended"',
    'print(client.call("GET", "/agents")["total"])',
    'try: Sensorium(sys.argv[1], sys.argv[2][::-1]).call("GET", "/agents")',
    'except urllib.error.HTTPError as error: print(error.code)',
  ].join('\n')
  const given = ['-B', '-c', program, await startService(t), ADMIN_KEY]
  const { stdout } = await promisify(execFile)('python3', given, { cwd: import.meta.dirname })
  assert.match(stdout, /^0\n(400|401)\n$/)
})

test('[DOC-10] without its arguments the Python agent says how it is used', (t) => {
  if (!hasPython) return t.diagnostic('there is no python3 on this machine')
  for (const given of [[], ['http://localhost:8080']]) {
    const { status, stderr } = spawnSync('python3', ['-B', AGENT, ...given], { encoding: 'utf8' })
    assert.deepEqual([status, stderr], [1, 'Usage: python3 agent.py <address of the service> <org-admin key>\n'])
  }
})

test('[DOC-10] an agent in Python handles events that its filter matches, and remembers them', async (t) => {
  if (!hasPython) return t.diagnostic('there is no python3 on this machine')
  const { stdout } = await promisify(execFile)('python3', [AGENT, await startService(t), ADMIN_KEY])
  assert.match(stdout, /handled \[240\] and remembered A large order/)
})
