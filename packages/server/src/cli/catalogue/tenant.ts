// Commands for a tenant: agents, their keys and interests, channels, and the audit log.
import type { ClientCommand, Section } from '../command.ts'
import { AUDIT_FILTER, PAGE } from './options.ts'

const AGENT = { '--agent <id>': 'the agent (default: the agent of the key)' }
const FILTER = { '--filter <CEL>': 'a predicate over the event, such as data.celsius > 80' }

type Listed = Omit<ClientCommand, 'kind'>

const agents: Listed[] = [
  {
    usage: 'agents list',
    summary: 'List the agents of the tenant, newest first',
    options: { '--status <active|inactive>': 'only with this status', ...PAGE },
    examples: ['sensorium agents list --status active'],
    load: () => import('../client/agents-list.ts'),
  },
  {
    usage: 'agents register <name>',
    summary: 'Register an agent; with --scopes, also mint a key and print it, once',
    options: {
      '--mode <poll|push|sse>': 'how it receives events (default: poll)',
      '--client-type <name>': 'the kind of client (default: other)',
      '--description <text>': 'what the agent does',
      '--team <id>': 'the team that the agent belongs to',
      '--external-id <text>': 'its id in another system; PUT by this id changes it later',
      '--scopes <list>': 'mint a key with these scopes: send,receive,…',
    },
    examples: ['sensorium agents register Triage --scopes receive,memory:read,memory:write'],
    load: () => import('../client/agents-register.ts'),
  },
  {
    usage: 'agents show <id>',
    summary: 'Show an agent and the state of its mailbox',
    examples: ['sensorium agents show agt_01k…'],
    load: () => import('../client/agents-show.ts'),
  },
  {
    usage: 'agents update <id>',
    summary: 'Change an agent: its name, and how and where it receives events',
    options: {
      '--mode <poll|push|sse>': 'how it receives events',
      '--endpoint <url>': 'where pushes go; an empty text removes it',
      '--name <text>': 'its name',
      '--description <text>': 'what the agent does',
    },
    examples: ['sensorium agents update agt_01k… --mode push --endpoint https://agent.example/inbox'],
    load: () => import('../client/agents-update.ts'),
  },
  {
    usage: 'agents activate <id>',
    summary: 'Activate an agent: it can receive events and sign in again',
    examples: ['sensorium agents activate agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-status.ts')).activate }),
  },
  {
    usage: 'agents deactivate <id>',
    destructive: true,
    summary: 'Deactivate an agent: it can no longer receive events or sign in',
    examples: ['sensorium agents deactivate agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-status.ts')).deactivate }),
  },
  {
    usage: 'agents pause <id>',
    summary: 'Pause an agent: its events wait until it is resumed',
    examples: ['sensorium agents pause agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-pause.ts')).pause }),
  },
  {
    usage: 'agents resume <id>',
    summary: 'Resume a paused agent',
    examples: ['sensorium agents resume agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-pause.ts')).resume }),
  },
  {
    usage: 'agents test <id>',
    summary: 'Send a test event to an agent',
    examples: ['sensorium agents test agt_01k…'],
    load: () => import('../client/agents-test.ts'),
  },
]

const keys: Listed[] = [
  {
    usage: 'keys list',
    summary: 'List the API keys of an agent',
    options: AGENT,
    examples: ['sensorium keys list --agent agt_01k…'],
    load: () => import('../client/keys-list.ts'),
  },
  {
    usage: 'keys mint',
    summary: 'Mint an API key for an agent and print it, once',
    options: {
      ...AGENT,
      '--scopes <list>': 'the scopes of the key: send,receive,memory:read,…',
      '--expires <time>': 'when the key expires',
    },
    examples: ['sensorium keys mint --agent agt_01k… --scopes send,receive'],
    load: () => import('../client/keys-mint.ts'),
  },
  {
    usage: 'keys revoke <key-id>',
    destructive: true,
    summary: 'Revoke an API key; its tokens stop working within a second',
    options: AGENT,
    examples: ['sensorium keys revoke key_01k… --agent agt_01k…'],
    load: () => import('../client/keys-revoke.ts'),
  },
  {
    usage: 'keys push-secret',
    summary:
      'Create a new secret that signs pushes to an agent, and print it, once. The old one is used as well for 24 hours',
    options: AGENT,
    examples: ['sensorium keys push-secret --agent agt_01k…'],
    load: () => import('../client/keys-push-secret.ts'),
  },
]

const interests: Listed[] = [
  {
    usage: 'interests list',
    summary: 'List the interests of an agent',
    options: AGENT,
    examples: ['sensorium interests list'],
    load: () => import('../client/interests-list.ts'),
  },
  {
    usage: 'interests create <event-type>',
    summary: 'Create an interest: a pattern of event types, and a filter',
    options: {
      ...AGENT,
      ...FILTER,
      '--priority <number>': 'higher is delivered first (default: 0)',
      '--enrichment <none|light|full>': 'add relevant memories of the agent to each event (default: none)',
      '--backfill <number>': 'also deliver up to this many of the newest matching events',
    },
    examples: ["sensorium interests create 'com.plant.pump.*' --filter 'data.celsius > 80' --enrichment light"],
    load: () => import('../client/interests-create.ts'),
  },
  {
    usage: 'interests delete <id>',
    destructive: true,
    summary: 'Delete an interest',
    options: AGENT,
    examples: ['sensorium interests delete int_01k…'],
    load: () => import('../client/interests-delete.ts'),
  },
]

const channels: Listed[] = [
  {
    usage: 'channels list',
    summary: 'List channels, newest first',
    options: PAGE,
    examples: ['sensorium channels list'],
    load: () => import('../client/channels-list.ts'),
  },
  {
    usage: 'channels create <name>',
    summary: 'Create a channel',
    options: {
      '--type <open|private|direct>': 'who can see and join it (default: open)',
      '--description <text>': 'what the channel is for',
    },
    examples: ["sensorium channels create alerts --description 'What needs somebody'"],
    load: () => import('../client/channels-create.ts'),
  },
  {
    usage: 'channels show <id>',
    summary: 'Show a channel with its members and feeds',
    examples: ['sensorium channels show chn_01k…'],
    load: () => import('../client/channels-show.ts'),
  },
  {
    usage: 'channels members <id>',
    summary: 'List the members of a channel, and add or remove one',
    options: {
      '--add <agent-id>': 'add this agent, then list',
      '--role <owner|admin|member>': 'the role, with --add (default: member)',
      '--remove <agent-id>': 'remove this agent, then list',
    },
    examples: ['sensorium channels members chn_01k…', 'sensorium channels members chn_01k… --add agt_01k…'],
    load: () => import('../client/channels-members.ts'),
  },
  {
    usage: 'channels feeds <id>',
    summary: 'List the feeds of a channel (which events its members receive), and add or remove one',
    options: {
      '--add <event-type>': 'add a feed for this pattern, then list',
      ...FILTER,
      '--remove <feed-id>': 'remove this feed, then list',
    },
    examples: [
      'sensorium channels feeds chn_01k…',
      "sensorium channels feeds chn_01k… --add 'com.github.*' --filter 'data.action == \"opened\"'",
    ],
    load: () => import('../client/channels-feeds.ts'),
  },
  {
    usage: 'channels post <id> <text>',
    summary: 'Send a message to the other members of a channel, as an event with the text in data.text',
    options: {
      '--type <event-type>': 'the type of the event (default: com.sensorium.channel.posted)',
      '--reply-to <id>': 'the agent or channel that a reply should go to',
    },
    examples: ["sensorium channels post chn_01k… 'Pump 7 is running again'"],
    load: () => import('../client/channels-post.ts'),
  },
  {
    usage: 'channels delete <id>',
    destructive: true,
    summary: 'Delete a channel with its members and feeds',
    examples: ['sensorium channels delete chn_01k…'],
    load: () => import('../client/channels-delete.ts'),
  },
]

const audit: Listed[] = [
  {
    usage: 'audit',
    summary: 'Show who changed what in the tenant, newest first; for org-admins',
    options: { ...AUDIT_FILTER, ...PAGE },
    examples: ['sensorium audit --action mintKey'],
    load: () => import('../client/audit.ts'),
  },
]

export const tenant: Section = {
  title: 'Agents and channels',
  groups: {
    agents: 'Agents of the tenant',
    keys: 'API keys of an agent, and its push secret',
    interests: 'Interests: which events an agent receives',
    channels: 'Channels, their members and feeds',
  },
  commands: [...agents, ...keys, ...interests, ...channels, ...audit].map((command) => ({
    ...command,
    kind: 'client',
  })),
}
