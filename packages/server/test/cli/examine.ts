// Runs `sensorium doctor` for a person and for a program, which must tell the same.
import assert from 'node:assert/strict'
import { command } from '../support/process.ts'

export const CHECKS = ['configuration', 'store', 'secret', 'disk', 'files', 'clock', 'model', 'service']
export interface Report {
  ok: boolean
  checks: { check: string; ok: boolean; detail: string }[]
}

export async function examine(
  given: Record<string, string>,
): Promise<{ code: number | null; report: Report; text: string; failed: string[] }> {
  const env = { PORT: '0', ...given } // not the program that may be on port 8080
  const person = await command(['doctor'], env)
  const program = await command(['doctor', '--json'], env)
  assert.equal(person.code, program.code)
  const report = JSON.parse(program.stdout) as Report
  assert.equal(report.ok, program.code === 0)
  const lines = person.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(0, 2))
  assert.deepEqual(
    lines,
    report.checks.map(({ check, ok }) => [ok ? 'ok' : 'failed', check]),
    'both tell the same',
  )
  return {
    code: person.code,
    report,
    text: person.stdout,
    failed: report.checks.filter(({ ok }) => !ok).map(({ check }) => check),
  }
}
