// `tenant settings` and `tenant set`: values for one tenant that override the environment.
import { operations, TENANT_SETTINGS, type TenantSettings } from '@sensorium/contract'
import { invalid } from '../../kernel/failure.ts'
import type { Config } from '../../config.ts'
import type { OperatorRun, CommandResult } from '../command.ts'
import { table } from '../terminal/table.ts'

/** Returns what holds where a tenant has no value of its own: the environment's values. Quotas have none. */
const defaultsOf = (config: Config): Partial<Record<keyof TenantSettings, unknown>> => ({
  visibility_timeout_s: config.visibilityTimeoutMs / 1000,
  max_attempts: config.maxAttempts,
  push_retry_s: config.pushRetryS,
  retention_days: config.retentionDays,
  rate_limit_agent: config.rateLimitAgent ?? 'off',
  rate_limit_tenant: config.rateLimitTenant ?? 'off',
})

function shown(settings: TenantSettings, config: Config): CommandResult {
  const defaults = defaultsOf(config)
  const rows = TENANT_SETTINGS.map((name) => [
    name,
    settings[name] === null ? `${String(defaults[name] ?? 'none')} (default)` : String(settings[name]),
  ])
  return { json: settings, text: table(['setting', 'value'], rows) }
}

/**
 * Reads `max_attempts=7`, `push_retry_s=5,60,600`, `rate_limit_agent=off`, `quota_agents=default`. The API checks the
 * values.
 */
function readSetting(text: string): [string, unknown] {
  const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(text) ?? []
  if (!(TENANT_SETTINGS as string[]).includes(name)) {
    throw invalid({
      field: name || 'setting',
      value: text,
      expected: `<name>=<value>, the name one of: ${TENANT_SETTINGS.join(', ')}`,
      example: 'max_attempts=7',
    })
  }
  if (value === 'default' || value === 'null') return [name, null]
  const number = (part: string): unknown => (/^\d{1,15}$/.test(part.trim()) ? Number(part) : part)
  return [name, name === 'push_retry_s' ? value.split(',').map(number) : number(value)]
}

export const show: OperatorRun = async ({ args, call, config }) =>
  shown(await call(operations.getTenantSettings, { params: { slug: args[0]! } }), config())

export const set: OperatorRun = async ({ args: [slug, ...given], call, config }) =>
  shown(
    await call(operations.updateTenantSettings, {
      params: { slug: slug! },
      body: Object.fromEntries(given.map(readSetting)),
    }),
    config(),
  )
