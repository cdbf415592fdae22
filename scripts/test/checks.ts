// The checks that are not test files: types and lint, run by tools in node_modules whose exit code tells whether
// anything is wrong.
import { execFile } from 'node:child_process'
import path from 'node:path'
import { newResult, type Result } from './results.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The console is a project of its own: it has the browser's types and not those of Node.js. */
export async function checkTypes(signal: AbortSignal): Promise<Result> {
  const tsc = path.join('typescript', 'bin', 'tsc')
  // By default four checkers share the files, and each works out for itself the types that they have in common.
  const options = ['--noEmit', '--checkers', '1']
  const [all, console] = await Promise.all([
    checkWith(signal, 'types', tsc, ...options),
    checkWith(signal, 'types of the console', tsc, ...options, '--project', 'packages/console'),
  ])
  return { ...all, passed: [...all.passed, ...console.passed], failures: [...all.failures, ...console.failures] }
}

export const checkLint = (signal: AbortSignal): Promise<Result> =>
  checkWith(signal, 'lint', path.join('@biomejs', 'biome', 'bin', 'biome'), 'check')

async function checkWith(signal: AbortSignal, title: string, tool: string, ...given: string[]): Promise<Result> {
  const result = newResult(title)
  const since = performance.now()
  const options = { cwd: root, signal, maxBuffer: 1 << 26 }
  const text = await new Promise<string | undefined>((resolve) => {
    execFile(process.execPath, [path.join(root, 'node_modules', tool), ...given], options, (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}`.trim() || error.message : undefined)
    })
  })
  result.ms = performance.now() - since
  if (text === undefined) result.passed.push(title)
  else result.failures.push({ name: title, where: `${path.basename(tool)} ${given.join(' ')}`, text })
  return result
}
