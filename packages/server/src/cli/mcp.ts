import { RELEASE } from '../kernel/release.ts'
import type { Command } from './command.ts'

const DEFAULT_URL = 'http://localhost:8080'

export const mcp: Command = {
  words: ['mcp'],
  parameters: [],
  options: { url: 'address of the service' },
  summary: 'Serve MCP over standard input and output, with the API key in SENSORIUM_KEY',
  async run({ options }) {
    const apiKey = process.env['SENSORIUM_KEY']
    if (!apiKey) return { json: null, text: 'SENSORIUM_KEY is not set: it holds the API key of the agent', exitCode: 1 }
    const url = options['url'] ?? process.env['SENSORIUM_URL'] ?? DEFAULT_URL
    // Loaded here: every other command does without it.
    const { serveMcpOverStdio } = await import('../mcp/serve-stdio.ts')
    // Standard output belongs to the protocol.
    await serveMcpOverStdio({ url, apiKey, version: RELEASE, report: (error) => console.error(error.message) })
    return { json: null, text: '' }
  },
}
