import { RELEASE } from '../../kernel/release.ts'
import { serveMcpOverStdio } from '../../mcp/serve-stdio.ts'
import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ session: { url, key }, signal }) => {
  // It serves until standard input ends.
  signal.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  // Standard output belongs to the protocol.
  await serveMcpOverStdio({
    url,
    apiKey: key,
    version: RELEASE,
    report: (error) => console.error(error.message),
    signal,
  })
  return { json: undefined, text: '' }
}
