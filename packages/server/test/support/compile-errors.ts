// Runs the repository's compiler on files that a test wrote. It is a separate program, and takes a fifth of the CPU of
// the compiler that is a library.
import { execFile } from 'node:child_process'
import path from 'node:path'

const TSC = path.resolve(import.meta.dirname, '../../../../node_modules/typescript/bin/tsc')

/** Returns the errors of the file and of everything that it imports, or an empty string if they compile. */
export function compileErrors(file: string, options: readonly string[]): Promise<string> {
  const args = [TSC, '--noEmit', '--ignoreConfig', '--skipLibCheck', ...options, path.basename(file)]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: path.dirname(file) }, (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}` || error.message : '')
    })
  })
}
