// Events and the mailbox.
import type { ClientCommand, Section } from '../command.ts'

const EVENT = {
  '--data <json>': 'the data; @file reads it from a file, - from standard input',
  '--subject <text>': 'what it is about',
  '--source <uri>': 'where it comes from; the agent itself where it is left out',
  '--id <text>': 'its id; made where it is left out',
  '--recipient <id>': 'an agent or a channel that receives it besides whoever matches',
}

const DEAD_LETTERS = {
  '--type <pattern>': 'of events of these types',
  '--reason <text>': 'with this in their reason',
  '--of-agent <id>': 'of this agent; for org-admins',
  '--since <time>': 'given up on then or later',
  '--until <time>': 'given up on then or earlier',
}

const commands: Omit<ClientCommand, 'kind'>[] = [
  {
    usage: 'publish [type]',
    summary: 'Publish an event, or a file of events',
    options: {
      ...EVENT,
      '--file <file>': 'CloudEvents as JSON: one, a list, or one on each line; - reads standard input',
    },
    examples: [
      `sensorium publish com.plant.pump.measured --subject pump/7 --data '{"celsius":93}'`,
      'sensorium publish --file readings.ndjson',
    ],
    load: () => import('../client/publish.ts'),
  },
  {
    usage: 'listen',
    summary: 'Print what arrives in the mailbox, as it arrives, until Ctrl-C',
    options: {
      '--ack': 'acknowledge what was printed; without it everything is given back at the end',
      '--count <number>': 'end after this many',
      '--full': 'print the whole data of each event',
    },
    examples: ['sensorium listen --ack', 'sensorium listen --ack --json | jq -r .payload.type'],
    load: () => import('../client/listen.ts'),
  },
  {
    usage: 'poll',
    summary: 'Lease what is due in the mailbox and print it',
    options: {
      '--limit <number>': 'at most this many (100 at most)',
      '--wait <seconds>': 'wait this long for something to be due (20 at most)',
      '--ack': 'acknowledge what was printed',
    },
    examples: ['sensorium poll --wait 10', 'sensorium poll --limit 1 --ack --json'],
    load: () => import('../client/poll.ts'),
  },
  {
    usage: 'ack <delivery-id...>',
    summary: 'Acknowledge deliveries: they are handled and do not come again',
    examples: ['sensorium ack dlv_01k…'],
    load: () => import('../client/ack.ts'),
  },
  {
    usage: 'nack <delivery-id...>',
    summary: 'Give deliveries back, to come again or as dead letters',
    options: {
      '--reason <text>': 'why; shown with the dead letter',
      '--retry-after <seconds>': 'come again after this time',
      '--dead-letter': 'do not come again; put them into the dead-letter queue',
    },
    examples: ["sensorium nack dlv_01k… --dead-letter --reason 'the ledger is closed'"],
    load: () => import('../client/nack.ts'),
  },
  {
    usage: 'dlq list',
    summary: 'List dead letters, newest first',
    options: {
      ...DEAD_LETTERS,
      '--offset <number>': 'how many to leave out',
      '--limit <number>': 'how many to show',
    },
    examples: ['sensorium dlq list', "sensorium dlq list --type 'com.plant.*' --reason 'no rule'"],
    load: () => import('../client/dlq-list.ts'),
  },
  {
    usage: 'dlq show <id>',
    summary: 'Show a dead letter with its event',
    examples: ['sensorium dlq show dlv_01k…'],
    load: () => import('../client/dlq-show.ts'),
  },
  {
    usage: 'dlq replay [id...]',
    summary: 'Put dead letters back into the mailbox: those named, those that fit, or all',
    options: { ...DEAD_LETTERS, '--all': 'every dead letter there is', '--dry-run': 'only count them' },
    examples: ['sensorium dlq replay dlv_01k…', "sensorium dlq replay --reason 'no rule' --dry-run"],
    load: async () => ({ run: (await import('../client/dlq-settle.ts')).replay }),
  },
  {
    usage: 'dlq discard [id...]',
    summary: 'Delete dead letters: those named, those that fit, or all',
    options: { ...DEAD_LETTERS, '--all': 'every dead letter there is', '--dry-run': 'only count them' },
    examples: ['sensorium dlq discard dlv_01k…', "sensorium dlq discard --type 'com.plant.*'"],
    load: async () => ({ run: (await import('../client/dlq-settle.ts')).discard }),
  },
  {
    usage: 'explain <type>',
    summary: 'Who would receive an event, and why; publishes nothing',
    options: { ...EVENT, '--agent <id>': 'why this agent would receive it, or not' },
    examples: [`sensorium explain com.plant.pump.measured --data '{"celsius":41}' --agent agt_01k…`],
    load: () => import('../client/explain.ts'),
  },
  {
    usage: 'trace <event-id>',
    summary: 'Who received an event, why, and how far each delivery came',
    examples: ['sensorium trace reading-1'],
    load: () => import('../client/trace.ts'),
  },
]

export const events: Section = {
  title: 'Events and the mailbox',
  groups: { dlq: 'Dead letters: deliveries that failed too often or were given up' },
  commands: commands.map((command) => ({ ...command, kind: 'client' })),
}
