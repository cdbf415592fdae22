// The operator's commands. They read the environment of the service and work on its store, even while it runs.
import type { OperatorCommand, Section } from '../command.ts'

const PAGE = { '--offset <number>': 'how many to leave out', '--limit <number>': 'how many to show' }
const MAPPING = {
  '--entity <CEL>': 'the entity, over `body` and `headers`',
  '--action <CEL>': 'what happened to it',
  '--id <CEL>': 'the id of the event',
  '--subject <CEL>': 'the subject',
  '--data <CEL>': 'the data',
}

type Listed = Omit<OperatorCommand, 'kind'>

const tenants: Listed[] = [
  {
    usage: 'tenant create <slug>',
    summary: 'Make a tenant; prints its org-admin key, once',
    options: { '--name <text>': 'a name for people; the slug where it is left out' },
    examples: ["sensorium tenant create acme --name 'Acme Inc.'"],
    load: () => import('../operator/tenant-create.ts'),
  },
  {
    usage: 'tenant list',
    summary: 'List the tenants, newest first',
    options: PAGE,
    examples: ['sensorium tenant list --limit 20'],
    load: () => import('../operator/tenant-list.ts'),
  },
  {
    usage: 'tenant settings <slug>',
    summary: 'Show the settings of a tenant',
    examples: ['sensorium tenant settings acme'],
    load: async () => ({ run: (await import('../operator/tenant-settings.ts')).show }),
  },
  {
    usage: 'tenant set <slug> <name=value...>',
    summary: 'Change settings of a tenant; name=default goes back',
    examples: ['sensorium tenant set acme max_attempts=7 quota_agents=100'],
    load: async () => ({ run: (await import('../operator/tenant-settings.ts')).set }),
  },
  {
    usage: 'tenant audit <slug>',
    summary: 'Who changed what in a tenant, newest first',
    options: {
      '--actor <id>': 'what this agent or org-admin did, or operator',
      '--action <name>': 'one kind of change, such as mintKey',
      '--since <time>': 'then or later',
      '--until <time>': 'then or earlier',
      '--offset <number>': 'how many to leave out',
      '--limit <number>': 'how many to show',
    },
    examples: ['sensorium tenant audit acme --action updateTenantSettings'],
    load: () => import('../operator/tenant-audit.ts'),
  },
  {
    usage: 'admin-key create <slug>',
    summary: 'Make another org-admin key for a tenant; prints it, once',
    examples: ['sensorium admin-key create acme'],
    load: () => import('../operator/admin-key-create.ts'),
  },
  {
    usage: 'admin-key list <slug>',
    summary: 'List the org-admin keys of a tenant, newest first',
    examples: ['sensorium admin-key list acme'],
    load: () => import('../operator/admin-key-list.ts'),
  },
  {
    usage: 'admin-key revoke <slug> <key-id>',
    summary: 'Revoke an org-admin key; its tokens end within a second. The last one cannot be revoked',
    examples: ['sensorium admin-key revoke acme key_01k…'],
    load: () => import('../operator/admin-key-revoke.ts'),
  },
  {
    usage: 'usage <slug>',
    summary: 'What a tenant used, per day',
    examples: ['sensorium usage acme --json'],
    load: () => import('../operator/usage.ts'),
  },
]

const ingest: Listed[] = [
  {
    usage: 'webhook create',
    summary: 'Register a webhook for events from outside; prints its signing secret, once',
    options: {
      '--tenant <slug>': 'whose events they are',
      '--source <name>': 'what their types begin with: com.<source>.…',
      '--preset <github|stripe>': 'mapping and signature of a well-known provider',
      ...MAPPING,
      '--signing-secret <text>': "the provider's own secret; - reads it from standard input",
    },
    examples: ['sensorium webhook create --tenant acme --preset github'],
    load: () => import('../operator/webhook-create.ts'),
  },
  {
    usage: 'webhook list',
    summary: 'List the webhooks, newest first',
    options: { '--tenant <slug>': 'of this tenant alone', ...PAGE },
    examples: ['sensorium webhook list --tenant acme'],
    load: () => import('../operator/webhook-list.ts'),
  },
  {
    usage: 'webhook rotate <id>',
    summary: 'Replace the secret of a webhook; prints the new one, once. The old one holds for another 24 hours',
    options: { '--signing-secret <text>': "the provider's own secret; - reads it from standard input" },
    examples: ['sensorium webhook rotate whk_01k…'],
    load: () => import('../operator/webhook-rotate.ts'),
  },
  {
    usage: 'webhook delete <id>',
    summary: 'Delete a webhook; its secret verifies no longer',
    examples: ['sensorium webhook delete whk_01k…'],
    load: () => import('../operator/webhook-delete.ts'),
  },
  {
    usage: 'connector create',
    summary: 'Register an AMQP 1.0 connector; a running service begins to receive within seconds',
    options: {
      '--tenant <slug>': 'whose events they are',
      '--source <name>': 'what their types begin with: com.<source>.…',
      '--url <address>': 'the broker, with user and password; - reads it from standard input',
      '--address <queue>': 'what to receive from, as the broker spells it',
      '--credit <number>': 'how many messages may be on their way at once',
      ...MAPPING,
      '--tls-ca <file>': "certificates to trust instead of the system's",
    },
    examples: [
      'CONNECTOR_URL=amqps://user:password@broker.example sensorium connector create --tenant acme --source erp --address /amq/queue/orders',
    ],
    load: () => import('../operator/connector-create.ts'),
  },
  {
    usage: 'connector list',
    summary: 'List the connectors, newest first: what each is doing and what it received',
    options: { '--tenant <slug>': 'of this tenant alone', ...PAGE },
    examples: ['sensorium connector list'],
    load: () => import('../operator/connector-list.ts'),
  },
  {
    usage: 'connector pause <id>',
    summary: 'Stop a connector from receiving, until resumed; nothing is lost',
    examples: ['sensorium connector pause cnr_01k…'],
    load: async () => ({ run: (await import('../operator/connector-pause.ts')).pause }),
  },
  {
    usage: 'connector resume <id>',
    summary: 'Let a paused connector receive again',
    examples: ['sensorium connector resume cnr_01k…'],
    load: async () => ({ run: (await import('../operator/connector-pause.ts')).resume }),
  },
  {
    usage: 'connector delete <id>',
    summary: 'Delete a connector; what it has not received stays with the broker',
    examples: ['sensorium connector delete cnr_01k…'],
    load: () => import('../operator/connector-delete.ts'),
  },
]

const store: Listed[] = [
  {
    usage: 'doctor',
    summary: 'Check configuration, store, secret, disk, files, clock, model and service; exits 1 when one is not fine',
    examples: ['sensorium doctor', 'DATA_DIR=/var/lib/sensorium sensorium doctor --json'],
    load: () => import('../operator/doctor.ts'),
  },
  {
    usage: 'backup <file>',
    summary: 'Copy the embedded store to a file, beside a running service',
    examples: ['sensorium backup /backups/sensorium.db'],
    load: () => import('../operator/backup.ts'),
  },
  {
    usage: 'restore <file>',
    summary: 'Bring a backup back in the place of the embedded store, which is kept aside; the service must be stopped',
    examples: ['sensorium restore /backups/sensorium.db'],
    load: () => import('../operator/restore.ts'),
  },
  {
    usage: 'reindex',
    summary: 'Embed every memory again, beside a running service',
    examples: ['sensorium reindex'],
    load: () => import('../operator/reindex.ts'),
  },
  {
    usage: 'distribute',
    summary: 'Spread the tenants over the machines of a PostgreSQL with Citus; what is distributed already stays',
    options: { '--shards <n>': 'into how many shards, the first time (default 32)' },
    examples: ['sensorium distribute', 'sensorium distribute --shards 64'],
    load: () => import('../operator/distribute.ts'),
  },
]

export const operator: Section = {
  title: 'For the operator, on the store of the service (DATA_DIR, DATABASE_URL)',
  groups: {
    tenant: 'Tenants and their settings',
    'admin-key': 'Org-admin keys of a tenant',
    webhook: 'Events from outside by signed webhooks',
    connector: 'Events from outside by AMQP 1.0',
  },
  commands: [...tenants, ...ingest, ...store].map((command) => ({ ...command, kind: 'operator' })),
}
