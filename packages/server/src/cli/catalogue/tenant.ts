// Commands for a tenant: agents, their keys and interests, channels, and the audit log.
import type { ClientCommand, Section } from '../command.ts'

const PAGE = { '--offset <number>': 'how many to leave out', '--limit <number>': 'how many to show' }
const AGENT = { '--agent <id>': 'the agent; the one of the key where it is left out' }
const FILTER = { '--filter <CEL>': 'a predicate over the event, such as data.celsius > 80' }

type Listed = Omit<ClientCommand, 'kind'>

const agents: Listed[] = [
  {
    usage: 'agents list',
    summary: 'List the agents of the tenant, newest first',
    options: { '--status <active|inactive>': 'with this status alone', ...PAGE },
    examples: ['sensorium agents list --status active'],
    load: () => import('../client/agents-list.ts'),
  },
  {
    usage: 'agents register <name>',
    summary: 'Register an agent; with --scopes it gets a key too, shown once',
    options: {
      '--mode <poll|push|sse>': 'how it receives; poll where it is left out',
      '--client-type <name>': 'the kind of client it is; other where it is left out',
      '--description <text>': 'what it does',
      '--team <id>': 'the team it belongs to',
      '--scopes <list>': 'mint a key with these scopes: send,receive,…',
    },
    examples: ['sensorium agents register Triage --scopes receive,memory:read,memory:write'],
    load: () => import('../client/agents-register.ts'),
  },
  {
    usage: 'agents show <id>',
    summary: 'Show an agent and how its mailbox is doing',
    examples: ['sensorium agents show agt_01k…'],
    load: () => import('../client/agents-show.ts'),
  },
  {
    usage: 'agents activate <id>',
    summary: 'Let an agent receive and sign in again',
    examples: ['sensorium agents activate agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-status.ts')).activate }),
  },
  {
    usage: 'agents deactivate <id>',
    summary: 'Stop an agent from receiving and from signing in',
    examples: ['sensorium agents deactivate agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-status.ts')).deactivate }),
  },
  {
    usage: 'agents pause <id>',
    summary: 'Hand nothing to an agent until it is resumed; its events wait',
    examples: ['sensorium agents pause agt_01k…'],
    load: async () => ({ run: (await import('../client/agents-pause.ts')).pause }),
  },
  {
    usage: 'agents resume <id>',
    summary: 'Let a paused agent receive again',
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
    summary: 'Mint an API key for an agent; prints it, once',
    options: {
      ...AGENT,
      '--scopes <list>': 'what it may do: send,receive,memory:read,…',
      '--expires <time>': 'when it ends',
    },
    examples: ['sensorium keys mint --agent agt_01k… --scopes send,receive'],
    load: () => import('../client/keys-mint.ts'),
  },
  {
    usage: 'keys revoke <key-id>',
    summary: 'Revoke an API key; its tokens end within a second',
    options: AGENT,
    examples: ['sensorium keys revoke key_01k… --agent agt_01k…'],
    load: () => import('../client/keys-revoke.ts'),
  },
]

const interests: Listed[] = [
  {
    usage: 'interests list',
    summary: 'List what an agent wants to hear of',
    options: AGENT,
    examples: ['sensorium interests list'],
    load: () => import('../client/interests-list.ts'),
  },
  {
    usage: 'interests create <event-type>',
    summary: 'Say what an agent wants to hear of: a pattern of types, and a filter',
    options: {
      ...AGENT,
      ...FILTER,
      '--priority <number>': 'higher comes first; 0 where it is left out',
      '--enrichment <none|light|full>': 'add what the agent remembers about it; none where it is left out',
      '--backfill <number>': 'deliver this many of the newest events that match, too',
    },
    examples: ["sensorium interests create 'com.plant.pump.*' --filter 'data.celsius > 80' --enrichment light"],
    load: () => import('../client/interests-create.ts'),
  },
  {
    usage: 'interests delete <id>',
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
      '--type <open|private|direct>': 'who sees it and may join; open where it is left out',
      '--description <text>': 'what it is for',
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
    summary: 'List the members of a channel',
    options: {
      '--add <agent-id>': 'add this agent first',
      '--role <owner|admin|member>': 'with --add; member where it is left out',
      '--remove <agent-id>': 'remove this agent first',
    },
    examples: ['sensorium channels members chn_01k…', 'sensorium channels members chn_01k… --add agt_01k…'],
    load: () => import('../client/channels-members.ts'),
  },
  {
    usage: 'channels feeds <id>',
    summary: 'List the feeds of a channel: which events it brings to its members',
    options: {
      '--add <event-type>': 'add a feed for this pattern first',
      ...FILTER,
      '--remove <feed-id>': 'remove this feed first',
    },
    examples: [
      'sensorium channels feeds chn_01k…',
      "sensorium channels feeds chn_01k… --add 'com.github.*' --filter 'data.action == \"opened\"'",
    ],
    load: () => import('../client/channels-feeds.ts'),
  },
  {
    usage: 'channels post <id> <text>',
    summary: 'Send a message to the other members of a channel; it arrives as data.text of an event',
    options: {
      '--type <event-type>': 'the type of the event; com.sensorium.channel.posted where it is left out',
      '--reply-to <id>': 'the agent or channel that a reply should go to',
    },
    examples: ["sensorium channels post chn_01k… 'Pump 7 is running again'"],
    load: () => import('../client/channels-post.ts'),
  },
]

const audit: Listed[] = [
  {
    usage: 'audit',
    summary: 'Who changed what in the tenant, newest first; for org-admins',
    options: {
      '--actor <id>': 'what this agent or org-admin did, or operator',
      '--action <name>': 'one kind of change, such as mintKey',
      '--since <time>': 'then or later',
      '--until <time>': 'then or earlier',
      ...PAGE,
    },
    examples: ['sensorium audit --action mintKey'],
    load: () => import('../client/audit.ts'),
  },
]

export const tenant: Section = {
  title: 'Agents and channels',
  groups: {
    agents: 'Who there is',
    keys: 'API keys of an agent',
    interests: 'What an agent wants to hear of',
    channels: 'Channels, their members and feeds',
  },
  commands: [...agents, ...keys, ...interests, ...channels, ...audit].map((command) => ({
    ...command,
    kind: 'client',
  })),
}
