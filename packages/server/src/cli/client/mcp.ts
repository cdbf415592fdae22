import { RELEASE } from '../../kernel/release.ts'
import { serveMcpOverStdio } from '../../mcp/serve-stdio.ts'
import type { ClientRun } from '../command.ts'
import { outputError } from '../terminal/write-line.ts'

export const run: ClientRun = async ({ session: { url, key }, signal }) => {
  // It serves until standard input ends.
  signal.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  // After a write that failed nothing is served any more, and standard input may stay open.
  let isCut = false
  const cut = new Promise<never>((_, reject) =>
    process.stdout.once('error', (error) => {
      isCut = true
      reject(outputError(error))
      process.stdin.destroy()
    }),
  )
  // Standard output belongs to the protocol.
  const served = serveMcpOverStdio({
    url,
    apiKey: key,
    version: RELEASE,
    report: (error) => isCut || console.error(error.message), // told by the exit code
    signal,
  })
  await Promise.race([served, cut])
  return { json: undefined, text: '' }
}
