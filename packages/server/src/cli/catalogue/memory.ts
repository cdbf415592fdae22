// Memory commands.
import type { ClientCommand, Section } from '../command.ts'
import { OR_AGO } from './options.ts'

const TYPE = '--type <episodic|semantic|procedural|entity|reflection|reasoning>'
const SCOPE = '--scope <agent|team|institutional>'

const commands: Omit<ClientCommand, 'kind'>[] = [
  {
    usage: 'remember <title> [content]',
    summary: 'Store a memory; if the content is - or left out, it is read from standard input',
    options: {
      [TYPE]: 'the type of the memory (default: semantic)',
      [SCOPE]: 'who can see it (default: agent)',
      '--team <id>': "the team, with --scope team (default: the agent's own)",
      '--importance <0..1>': 'how much it matters',
      '--confidence <0..1>': 'how certain it is',
      '--event <id>': 'the id of the event that it derives from',
      '--expires <time>': 'when it expires',
    },
    examples: ["sensorium remember 'Pump 7 runs hot' 'Above 90 degrees it is the coolant valve.'"],
    load: () => import('../client/remember.ts'),
  },
  {
    usage: 'recall <query>',
    summary: 'Search memories by meaning, best match first',
    options: {
      '--limit <number>': 'the maximum number of results',
      [TYPE]: 'only of this type',
      [SCOPE]: 'only of this scope',
      '--min-confidence <0..1>': 'only with at least this confidence',
      '--min-score <0..1>': 'only with at least this score; 0.1 leaves out what has little to do with the query',
      '--explain': 'show the signals behind each score',
    },
    examples: ["sensorium recall 'why does the motor overheat?' --limit 3"],
    load: () => import('../client/recall.ts'),
  },
  {
    usage: 'relate <from-id> <to-id>',
    summary: 'Create a relationship from one memory to another',
    options: {
      '--type <caused_by|related_to|contradicts|supports|derived_from|part_of>': 'the type (default: related_to)',
      '--strength <0..1>': 'how strong it is',
    },
    examples: ['sensorium relate mem_01k… mem_01j… --type caused_by --strength 0.8'],
    load: () => import('../client/relate.ts'),
  },
  {
    usage: 'unrelate <from-id> <to-id>',
    destructive: true,
    summary: 'Delete the relationships from one memory to another',
    options: {
      '--type <caused_by|related_to|contradicts|supports|derived_from|part_of>': 'only of this type',
    },
    examples: ['sensorium unrelate mem_01k… mem_01j…'],
    load: () => import('../client/unrelate.ts'),
  },
  {
    usage: 'memories list',
    summary: 'List memories, newest first',
    options: {
      [TYPE]: 'only of this type',
      [SCOPE]: 'only of this scope',
      '--search <text>': 'only with this text in the title or content',
      '--offset <number>': 'how many to skip',
      '--limit <number>': 'how many to show',
    },
    examples: ['sensorium memories list --search pump'],
    load: () => import('../client/memories-list.ts'),
  },
  {
    usage: 'memories show <id>',
    summary: 'Show a memory and the memories related to it',
    options: { '--depth <1..3>': 'how many relationships to follow (default: 1)' },
    examples: ['sensorium memories show mem_01k… --depth 2'],
    load: () => import('../client/memories-show.ts'),
  },
  {
    usage: 'memories export <file>',
    summary:
      'Export all memories and relationships to a new file, one JSON object per line; - writes to standard output',
    options: { '--since <time>': `only memories and relationships changed since this time${OR_AGO}` },
    examples: ['sensorium memories export memories.ndjson'],
    load: () => import('../client/memories-export.ts'),
  },
  {
    usage: 'memories import <file>',
    summary:
      'Import memories and relationships from a file; - reads standard input. After an interruption, run it again: it skips what was imported',
    examples: ['sensorium memories import memories.ndjson'],
    load: () => import('../client/memories-import.ts'),
  },
  {
    usage: 'memories update <id>',
    summary: 'Change a memory; what is left out stays as it is',
    options: {
      '--title <text>': 'its title',
      '--content <text>': 'its content; @file reads it from a file, - from standard input',
      '--importance <0..1>': 'how much it matters',
      '--confidence <0..1>': 'how certain it is',
      '--metadata <json>': 'replaces its metadata; @file reads it from a file, - from standard input',
      '--expires <time>': 'when it expires; an empty text means never',
    },
    examples: ["sensorium memories update mem_01k… --content 'It was the thermostat.' --confidence 0.9"],
    load: () => import('../client/memories-update.ts'),
  },
  {
    usage: 'memories similar <id>',
    summary: 'Find the memories that are most like one, most similar first',
    options: { '--limit <number>': 'the maximum number of results' },
    examples: ['sensorium memories similar mem_01k…'],
    load: () => import('../client/memories-similar.ts'),
  },
  {
    usage: 'memories history <id>',
    summary: 'Show the versions of a memory, newest first',
    examples: ['sensorium memories history mem_01k…'],
    load: () => import('../client/memories-history.ts'),
  },
  {
    usage: 'memories restore <id> <version>',
    summary: 'Change a memory back to one of its versions',
    examples: ['sensorium memories restore mem_01k… 2'],
    load: () => import('../client/memories-restore.ts'),
  },
  {
    usage: 'memories merge <id> <other-id...>',
    destructive: true,
    summary: 'Merge memories that say the same into the first, which keeps its text; the others are deleted',
    examples: ['sensorium memories merge mem_01k… mem_01j…'],
    load: () => import('../client/memories-merge.ts'),
  },
  {
    usage: 'memories promote <id>',
    summary: 'Let a team, or everybody in the tenant, find a memory. This cannot be undone',
    options: {
      '--scope <team|institutional>': 'who can find it from now on',
      '--team <id>': 'the team, with --scope team',
    },
    examples: [
      'sensorium memories promote mem_01k… --scope team --team support',
      'sensorium memories promote mem_01k… --scope institutional',
    ],
    load: () => import('../client/memories-promote.ts'),
  },
  {
    usage: 'memories forget <id>',
    destructive: true,
    summary: 'Delete a memory',
    examples: ['sensorium memories forget mem_01k…'],
    load: () => import('../client/memories-forget.ts'),
  },
  {
    usage: 'memories erase <id>',
    destructive: true,
    summary: 'Delete a memory, also a deleted one, and keep nothing of it; for org-admins',
    examples: ['sensorium memories erase mem_01k…'],
    load: () => import('../client/memories-erase.ts'),
  },
]

export const memory: Section = {
  title: 'Memory',
  groups: { memories: 'List, show, export, import, change, restore, merge, share, delete and erase memories' },
  commands: commands.map((command) => ({ ...command, kind: 'client' })),
}
