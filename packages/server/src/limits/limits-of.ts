// How many requests a tenant and its agents may make in a window.
import type { Config } from '../config.ts'
import { derived, type SettingsOf } from '../tenants/settings.ts'

/** Of an agent and of the whole tenant; null means no limit. */
export interface Limits {
  agent: number | null
  tenant: number | null
}

/** Returns the current limits in a tenant: the same object until they change. */
export type LimitsOf = (tenantId: string) => Limits

export const NO_LIMITS: Limits = { agent: null, tenant: null }

const either = (setting: number | 'off' | null, otherwise: number | null): number | null =>
  setting === null ? otherwise : setting === 'off' ? null : setting

/** Limits come from the tenant's settings, or from the environment if a setting is absent. */
export const makeLimitsOf = ({ rateLimitAgent, rateLimitTenant }: Config, settingsOf: SettingsOf): LimitsOf =>
  derived(settingsOf, ({ rate_limit_agent, rate_limit_tenant }) => ({
    agent: either(rate_limit_agent, rateLimitAgent),
    tenant: either(rate_limit_tenant, rateLimitTenant),
  }))
