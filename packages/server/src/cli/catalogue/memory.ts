// Memory commands.
import type { ClientCommand, Section } from '../command.ts'

const TYPE = '--type <episodic|semantic|procedural|entity|reflection|reasoning>'
const SCOPE = '--scope <agent|team|institutional>'

const commands: Omit<ClientCommand, 'kind'>[] = [
  {
    usage: 'remember <title> [content]',
    summary: 'Keep a memory; the content is read from standard input where it is - or left out',
    options: {
      [TYPE]: 'what kind of memory it is; semantic where it is left out',
      [SCOPE]: 'who may find it; agent where it is left out',
      '--team <id>': "the team, with --scope team; the agent's own where it is left out",
      '--importance <0..1>': 'how much it matters',
      '--confidence <0..1>': 'how certain it is',
      '--event <id>': 'the event it derives from',
      '--expires <time>': 'when to forget it',
    },
    examples: ["sensorium remember 'Pump 7 runs hot' 'Above 90 degrees it is the coolant valve.'"],
    load: () => import('../client/remember.ts'),
  },
  {
    usage: 'recall <query>',
    summary: 'Find memories by what they mean, best first',
    options: {
      '--limit <number>': 'at most this many',
      [TYPE]: 'of this kind alone',
      [SCOPE]: 'of this scope alone',
      '--min-confidence <0..1>': 'at least this certain',
      '--explain': 'show what each score is made of',
    },
    examples: ["sensorium recall 'why does the motor overheat?' --limit 3"],
    load: () => import('../client/recall.ts'),
  },
  {
    usage: 'relate <from-id> <to-id>',
    summary: 'Draw a relationship from one memory to another',
    options: {
      '--type <caused_by|related_to|contradicts|supports|derived_from|part_of>':
        'what kind; related_to where it is left out',
      '--strength <0..1>': 'how strong it is',
    },
    examples: ['sensorium relate mem_01k… mem_01j… --type caused_by --strength 0.8'],
    load: () => import('../client/relate.ts'),
  },
  {
    usage: 'memories list',
    summary: 'List memories, newest first',
    options: {
      [TYPE]: 'of this kind alone',
      [SCOPE]: 'of this scope alone',
      '--search <text>': 'with this text in title or content',
      '--offset <number>': 'how many to leave out',
      '--limit <number>': 'how many to show',
    },
    examples: ['sensorium memories list --search pump'],
    load: () => import('../client/memories-list.ts'),
  },
  {
    usage: 'memories show <id>',
    summary: 'Show a memory and what it is related to',
    options: { '--depth <1..3>': 'how many relationships away; 1 where it is left out' },
    examples: ['sensorium memories show mem_01k… --depth 2'],
    load: () => import('../client/memories-show.ts'),
  },
  {
    usage: 'memories export <file>',
    summary: 'Write all memories and relationships to a new file, a line of JSON each; - is standard output',
    options: { '--since <time>': 'only what was changed since' },
    examples: ['sensorium memories export memories.ndjson'],
    load: () => import('../client/memories-export.ts'),
  },
  {
    usage: 'memories import <file>',
    summary:
      'Import memories and relationships from a file, - is standard input; run again after a break, it skips what is there',
    examples: ['sensorium memories import memories.ndjson'],
    load: () => import('../client/memories-import.ts'),
  },
  {
    usage: 'memories forget <id>',
    summary: 'Delete a memory',
    examples: ['sensorium memories forget mem_01k…'],
    load: () => import('../client/memories-forget.ts'),
  },
]

export const memory: Section = {
  title: 'Memory',
  groups: { memories: 'Memories one by one' },
  commands: commands.map((command) => ({ ...command, kind: 'client' })),
}
