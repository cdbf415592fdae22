// Commands for the service itself, and about the command line.
import type { Section } from '../command.ts'

export const service: Section = {
  title: 'The service and the command line',
  commands: [
    {
      kind: 'service',
      usage: 'start',
      summary: 'Run the service',
      examples: ['sensorium start', 'PORT=9000 DATA_DIR=/var/lib/sensorium sensorium start'],
    },
    {
      kind: 'client',
      usage: 'mcp',
      summary: 'Serve MCP over standard input and output, for chat clients that start a program',
      examples: [
        'sensorium mcp --profile work',
        'SENSORIUM_KEY=ak_live_… sensorium mcp --url https://sensorium.example',
      ],
      load: () => import('../client/mcp.ts'),
    },
    {
      kind: 'local',
      usage: 'completion <bash|zsh|fish>',
      summary: 'Print a script that completes commands and options in bash, zsh or fish',
      examples: [
        'source <(sensorium completion bash)',
        'sensorium completion fish > ~/.config/fish/completions/sensorium.fish',
      ],
      load: () => import('../local/completion.ts'),
    },
    {
      kind: 'local',
      usage: 'version',
      summary: 'Print the version',
      examples: ['sensorium version'],
      load: () => import('../local/version.ts'),
    },
    {
      kind: 'local',
      usage: 'help [command...]',
      summary: 'Print this overview, or the help of a command',
      examples: ['sensorium help', 'sensorium help agents register'],
      load: () => import('../local/help.ts'),
    },
  ],
}
