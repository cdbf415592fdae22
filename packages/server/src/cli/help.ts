// What `sensorium help` prints.
import { usageOf, type Command } from './command.ts'

export function help(commands: readonly Command[]): string {
  const lines = [
    ['start', 'Run the service'],
    ...commands.map((command) => [usageOf(command), command.summary]),
    ['version', 'Print the version'],
    ['help', 'Print this'],
  ]
  const width = Math.max(...lines.map(([usage]) => usage!.length))
  return [
    'sensorium: the sensing and memory back end that autonomous agents plug into',
    '',
    ...lines.map(([usage, summary]) => `  sensorium ${usage!.padEnd(width)}  ${summary}`),
    '',
    'Commands read the same environment as the service (DATA_DIR, DATABASE_URL, SENSORIUM_SECRET, …) and work on its store',
    'directly, also while it runs. --json prints the answer as the HTTP door gives it.',
  ].join('\n')
}
