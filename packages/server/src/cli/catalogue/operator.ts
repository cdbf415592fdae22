// The operator's commands. They read the environment of the service and work on its store, even while it runs.
import type { OperatorCommand, Section } from '../command.ts'
import { AUDIT_FILTER, PAGE } from './options.ts'

const MAPPING = {
  '--entity <CEL>': 'the entity, from `body` and `headers`',
  '--action <CEL>': 'what happened to the entity',
  '--id <CEL>': 'the id of the event',
  '--subject <CEL>': 'the subject',
  '--data <CEL>': 'the data',
}

type Listed = Omit<OperatorCommand, 'kind'>

const tenants: Listed[] = [
  {
    usage: 'tenant create <slug>',
    summary: 'Create a tenant and print its org-admin key, once',
    options: { '--name <text>': 'a display name (default: the slug)' },
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
    summary: 'Change settings of a tenant; name=default resets a setting',
    examples: ['sensorium tenant set acme max_attempts=7 quota_agents=100'],
    load: async () => ({ run: (await import('../operator/tenant-settings.ts')).set }),
  },
  {
    usage: 'tenant audit <slug>',
    summary: 'Show who changed what in a tenant, newest first',
    options: { ...AUDIT_FILTER, ...PAGE },
    examples: ['sensorium tenant audit acme --action updateTenantSettings'],
    load: () => import('../operator/tenant-audit.ts'),
  },
  {
    usage: 'admin-key create <slug>',
    summary: 'Create another org-admin key for a tenant and print it, once',
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
    destructive: true,
    summary: 'Revoke an org-admin key; its tokens stop working within a second. The last key cannot be revoked',
    examples: ['sensorium admin-key revoke acme key_01k…'],
    load: () => import('../operator/admin-key-revoke.ts'),
  },
  {
    usage: 'usage <slug>',
    summary: 'Show the usage of a tenant by day',
    examples: ['sensorium usage acme --json'],
    load: () => import('../operator/usage.ts'),
  },
]

const ingest: Listed[] = [
  {
    usage: 'webhook create',
    summary: 'Register a webhook for external events and print its signing secret, once',
    options: {
      '--tenant <slug>': 'the tenant that the events belong to',
      '--source <name>': 'the name of the source; event types begin with com.<source>.',
      '--preset <github|stripe|standard>':
        'use the mapping and signature of a well-known provider, or of Standard Webhooks (with --source)',
      ...MAPPING,
      '--signing-secret <text>': "the provider's own secret; - reads it from standard input",
    },
    examples: ['sensorium webhook create --tenant acme --preset github'],
    load: () => import('../operator/webhook-create.ts'),
  },
  {
    usage: 'webhook list',
    summary: 'List the webhooks, newest first',
    options: { '--tenant <slug>': 'only of this tenant', ...PAGE },
    examples: ['sensorium webhook list --tenant acme'],
    load: () => import('../operator/webhook-list.ts'),
  },
  {
    usage: 'webhook rotate <id>',
    summary:
      'Replace the secret of a webhook and print the new one, once. The old one stays valid for another 24 hours',
    options: { '--signing-secret <text>': "the provider's own secret; - reads it from standard input" },
    examples: ['sensorium webhook rotate whk_01k…'],
    load: () => import('../operator/webhook-rotate.ts'),
  },
  {
    usage: 'webhook delete <id>',
    destructive: true,
    summary: 'Delete a webhook; its secret is no longer accepted',
    examples: ['sensorium webhook delete whk_01k…'],
    load: () => import('../operator/webhook-delete.ts'),
  },
  {
    usage: 'connector create',
    summary: 'Register an AMQP 1.0 connector; a running service starts to receive within seconds',
    options: {
      '--tenant <slug>': 'the tenant that the events belong to',
      '--source <name>': 'the name of the source; event types begin with com.<source>.',
      '--url <address>': 'the URL of the broker, with user and password; - reads it from standard input',
      '--address <queue>': 'the address to receive from, in the notation of the broker',
      '--credit <number>': 'how many messages may be in flight at once',
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
    summary: 'List the connectors with their state and counters, newest first',
    options: { '--tenant <slug>': 'only of this tenant', ...PAGE },
    examples: ['sensorium connector list'],
    load: () => import('../operator/connector-list.ts'),
  },
  {
    usage: 'connector pause <id>',
    summary: 'Stop a connector from receiving until it is resumed; no message is lost',
    examples: ['sensorium connector pause cnr_01k…'],
    load: async () => ({ run: (await import('../operator/connector-pause.ts')).pause }),
  },
  {
    usage: 'connector resume <id>',
    summary: 'Resume a paused connector',
    examples: ['sensorium connector resume cnr_01k…'],
    load: async () => ({ run: (await import('../operator/connector-pause.ts')).resume }),
  },
  {
    usage: 'connector delete <id>',
    destructive: true,
    summary: 'Delete a connector; messages that it has not received stay with the broker',
    examples: ['sensorium connector delete cnr_01k…'],
    load: () => import('../operator/connector-delete.ts'),
  },
]

const store: Listed[] = [
  {
    usage: 'doctor',
    summary: 'Check configuration, store, secret, disk, files, clock, model and service; exits with 1 if a check fails',
    examples: ['sensorium doctor', 'DATA_DIR=/var/lib/sensorium sensorium doctor --json'],
    load: () => import('../operator/doctor.ts'),
  },
  {
    usage: 'backup <file>',
    summary: 'Copy the embedded store to a file; the service can keep running',
    examples: ['sensorium backup /backups/sensorium.db'],
    load: () => import('../operator/backup.ts'),
  },
  {
    usage: 'restore <file>',
    destructive: true,
    summary: 'Replace the embedded store with a backup; the old store is kept aside. The service must be stopped',
    examples: ['sensorium restore /backups/sensorium.db'],
    load: () => import('../operator/restore.ts'),
  },
  {
    usage: 'reindex',
    summary: 'Embed every memory again; the service can keep running',
    examples: ['sensorium reindex'],
    load: () => import('../operator/reindex.ts'),
  },
  {
    usage: 'distribute',
    summary:
      'Distribute the tenants over the servers of a PostgreSQL cluster with Citus; tables that are already distributed do not change',
    options: { '--shards <n>': 'the number of shards, set the first time (default: 32)' },
    examples: ['sensorium distribute', 'sensorium distribute --shards 64'],
    load: () => import('../operator/distribute.ts'),
  },
]

export const operator: Section = {
  title: 'Operator commands, on the store of the service (DATA_DIR, DATABASE_URL)',
  groups: {
    tenant: 'Tenants and their settings',
    'admin-key': 'Org-admin keys of a tenant',
    webhook: 'Webhooks: external events through signed requests',
    connector: 'Connectors: external events from AMQP 1.0 brokers',
  },
  commands: [...tenants, ...ingest, ...store].map((command) => ({ ...command, kind: 'operator' })),
}
