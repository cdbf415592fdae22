// Variables whose name is almost that of a setting.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'

test('[CFG-1] a variable that is a letter away from a setting is noticed, unless that is set too', () => {
  const noticed = (env: Record<string, string>) => readConfig(env).misspelt.map(({ name, meant }) => [name, meant])
  for (const [name, meant] of [
    ['RETENTION_DAY', 'RETENTION_DAYS'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['MAX_ATTEMTPS', 'MAX_ATTEMPTS'],
    ['SENSORIUM_SECRETE', 'SENSORIUM_SECRET'],
    ['DRAIN_MS', 'DRAIN_S'],
  ] as const) {
    assert.deepEqual(noticed({ [name]: '5' }), [[name, meant]])
    assert.deepEqual(noticed({ [name]: '' }), [])
  }
  assert.deepEqual(noticed({ RETENTION_DAY: '5', RETENTION_DAYS: '5' }), [])
})

test('[CFG-1] no variable of a machine, a container, Kubernetes, npm or CI is taken for a misspelt setting', () => {
  const common = [
    ...['HOSTNAME', 'HOSTS', 'HOSTTYPE', 'POST', 'PORTS', 'PWD', 'PATH', 'HOME', 'LANG', 'TERM', 'USER', 'LOGNAME'],
    ...['LOGLEVEL', 'LOG_FILE', 'LOG_FORMAT', 'XDG_DATA_DIRS', 'XDG_DATA_HOME', 'SSH_CLIENT', 'WORKER', 'COLUMNS'],
    ...[
      'REDIS_PORT',
      'REDIS_URL',
      'DATABASE_NAME',
      'DATABASE_HOST',
      'DATABASE_USER',
      'PGHOST',
      'PGDATA',
      'DATA_VOLUME',
    ],
    ...[
      'NODE_ENV',
      'NODE_OPTIONS',
      'CI',
      'GITHUB_TOKEN',
      'CI_JOB_URL',
      'RUNNER_TEMP',
      'INVOCATION_ID',
      'SYSTEMD_LOG_LEVEL',
    ],
    ...[
      'SENSORIUM_URL',
      'SENSORIUM_KEY',
      'SENSORIUM_PROFILE',
      'npm_config_loglevel',
      'npm_package_name',
      'MAX_OLD_SPACE',
    ],
  ]
  // A service may have the name of a setting, or of its first words.
  const services = [
    ...['SENSORIUM', 'DATA', 'DATABASE', 'DATABASE_READ', 'PUBLIC', 'LOG', 'VISIBILITY', 'MAX', 'MAX_EVENT', 'PUSH'],
    ...['PUSH_RETRY', 'RATE', 'RATE_LIMIT', 'RETENTION', 'AUDIT', 'EMBEDDINGS', 'RERANK', 'CLIENT', 'CONSOLE', 'DRAIN'],
    ...['OPERATOR', 'TRUSTED', 'BOOTSTRAP', 'BOOTSTRAP_ADMIN', 'HOST', 'PORT', 'WORKERS', 'DATABASE_URL', 'LOG_LEVEL'],
  ]
  const links = services.flatMap((name) =>
    [
      ...['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_8080_TCP', 'PORT_8080_TCP_PROTO'],
      ...['PORT_8080_TCP_PORT', 'PORT_8080_TCP_ADDR'],
    ].map((part) => `${name}_${part}`),
  )
  const env = Object.fromEntries([...common, ...links].map((name) => [name, '1']))
  assert.deepEqual(readConfig(env).misspelt, [])
})
