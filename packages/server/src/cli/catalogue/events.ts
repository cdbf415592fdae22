// Events and the mailbox.
import type { ClientCommand, Section } from '../command.ts'
import { OR_AGO, PAGE } from './options.ts'

const EVENT = {
  '--data <json>': 'the data as JSON; @file reads it from a file, - from standard input',
  '--subject <text>': 'what the event is about',
  '--source <uri>': 'where the event comes from (default: the agent itself)',
  '--id <text>': 'the id of the event (default: generated)',
  '--recipient <id>': 'an agent or channel that receives it in addition to those that match',
  '--reply-to <id>': 'the recipient that a reply should have',
  '--correlation-id <text>': 'in a reply: that of the question, or the id of the question',
  '--cause <id>': 'the event that led to this one',
  '--time <time>': 'when it happened',
}

const DEAD_LETTERS = {
  '--type <pattern>': 'only events of these types',
  '--reason <text>': 'only with this text in the reason',
  '--of-agent <id>': 'only of this agent; for org-admins',
  '--since <time>': `dead-lettered at or after this time${OR_AGO}`,
  '--until <time>': `dead-lettered at or before this time${OR_AGO}`,
}

const commands: Omit<ClientCommand, 'kind'>[] = [
  {
    usage: 'publish [type]',
    summary: 'Publish an event, or a file of events',
    options: {
      ...EVENT,
      '--file <file>': 'CloudEvents as JSON: one event, an array, or one per line; - reads standard input',
    },
    examples: [
      `sensorium publish com.plant.pump.measured --subject pump/7 --data '{"celsius":93}'`,
      'sensorium publish --file readings.ndjson',
    ],
    load: () => import('../client/publish.ts'),
  },
  {
    usage: 'listen',
    summary: 'Print deliveries as they arrive in the mailbox, until Ctrl-C',
    options: {
      '--ack':
        'acknowledge each printed delivery; without it all are given back at the end, which counts as an attempt: ' +
        'after the last one (the fifth, unless MAX_ATTEMPTS is set) a delivery is a dead letter',
      '--count <number>': 'stop after this many deliveries',
      '--full': 'print the whole data of each event',
    },
    examples: ['sensorium listen --ack', 'sensorium listen --ack --json | jq -r .payload.type'],
    load: () => import('../client/listen.ts'),
  },
  {
    usage: 'poll',
    summary: 'Lease and print the deliveries that are due in the mailbox',
    options: {
      '--limit <number>': 'the maximum number of deliveries (up to 100)',
      '--wait <seconds>': 'wait this long for a delivery to become due (up to 20)',
      '--ack': 'acknowledge the printed deliveries; without it their leases lapse, which counts as an attempt',
    },
    examples: ['sensorium poll --wait 10', 'sensorium poll --limit 1 --ack --json'],
    load: () => import('../client/poll.ts'),
  },
  {
    usage: 'ack <delivery-id...>',
    summary: 'Acknowledge deliveries, so that they are not delivered again',
    examples: ['sensorium ack dlv_01k…'],
    load: () => import('../client/ack.ts'),
  },
  {
    usage: 'nack <delivery-id...>',
    summary: 'Give deliveries back, to be delivered again or dead-lettered',
    options: {
      '--reason <text>': 'the reason, shown with the dead letter',
      '--retry-after <seconds>': 'deliver them again after this time',
      '--dead-letter': 'do not deliver them again; move them to the dead-letter queue',
    },
    examples: ["sensorium nack dlv_01k… --dead-letter --reason 'the ledger is closed'"],
    load: () => import('../client/nack.ts'),
  },
  {
    usage: 'extend <delivery-id...>',
    summary: 'Extend the leases of deliveries, so that they are not delivered again meanwhile',
    options: { '--seconds <number>': 'how long they last from now (default: 60)' },
    examples: ['sensorium extend dlv_01k… --seconds 300'],
    load: () => import('../client/extend.ts'),
  },
  {
    usage: 'dlq list',
    summary: 'List dead letters, newest first',
    options: {
      ...DEAD_LETTERS,
      ...PAGE,
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
    summary: 'Put dead letters back into the mailbox: by id, by filter, or all',
    options: { ...DEAD_LETTERS, '--all': 'all dead letters', '--dry-run': 'only count them' },
    examples: ['sensorium dlq replay dlv_01k…', "sensorium dlq replay --reason 'no rule' --dry-run"],
    load: async () => ({ run: (await import('../client/dlq-settle.ts')).replay }),
  },
  {
    usage: 'dlq discard [id...]',
    destructive: true,
    summary: 'Delete dead letters: by id, by filter, or all',
    options: { ...DEAD_LETTERS, '--all': 'all dead letters', '--dry-run': 'only count them' },
    examples: ['sensorium dlq discard dlv_01k…', "sensorium dlq discard --type 'com.plant.*'"],
    load: async () => ({ run: (await import('../client/dlq-settle.ts')).discard }),
  },
  {
    usage: 'explain <type>',
    summary: 'Show who would receive an event, and why, without publishing it',
    options: { ...EVENT, '--agent <id>': 'also show why this agent would or would not receive it' },
    examples: [`sensorium explain com.plant.pump.measured --data '{"celsius":41}' --agent agt_01k…`],
    load: () => import('../client/explain.ts'),
  },
  {
    usage: 'events list',
    summary: 'Search the events of the tenant, newest first; for org-admins',
    options: {
      '--type <pattern>': 'only events of these types',
      '--subject <text>': 'only with this subject',
      '--source <uri>': 'only from this source',
      '--id <text>': 'only with this id',
      '--sender <id>': 'only published by this agent or org-admin, or through this webhook or connector',
      '--cause <event-id>': 'only those that this event led to',
      '--since <time>': `accepted at or after this time${OR_AGO}`,
      '--until <time>': `accepted at or before this time${OR_AGO}`,
      ...PAGE,
    },
    examples: ['sensorium events list', "sensorium events list --type 'com.plant.*' --since 2h"],
    load: () => import('../client/events-list.ts'),
  },
  {
    usage: 'events watch',
    summary: 'Print the events of the tenant as they are accepted, until Ctrl-C; for org-admins',
    options: {
      '--type <pattern>': 'only events of these types',
      '--filter <CEL>': 'only those for which this predicate holds, such as data.celsius > 80',
      '--count <number>': 'stop after this many events',
    },
    examples: ['sensorium events watch', "sensorium events watch --type 'com.plant.*' --json | jq -r .id"],
    load: () => import('../client/events-watch.ts'),
  },
  {
    usage: 'events types',
    summary: 'List the event types of the tenant, and how many agents listen to each',
    options: PAGE,
    examples: ['sensorium events types'],
    load: () => import('../client/events-types.ts'),
  },
  {
    usage: 'trace <event-id>',
    summary: 'Show who received an event, why, and the state of each delivery',
    examples: ['sensorium trace reading-1'],
    load: () => import('../client/trace.ts'),
  },
]

export const events: Section = {
  title: 'Events and the mailbox',
  groups: {
    dlq: 'Dead letters: deliveries that failed too often or were given up',
    events: 'Search and watch what is published',
  },
  commands: commands.map((command) => ({ ...command, kind: 'client' })),
}
