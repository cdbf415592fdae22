// Settings of a tenant as texts of a form. An empty text means the default.
import type { TenantSettings, TenantSettingsUpdate } from '@sensorium/client'

type SettingName = keyof TenantSettings
export type SettingTexts = Record<SettingName, string>

interface SettingField {
  name: SettingName
  label: string
  hint: string
}

export const GROUPS: readonly { title: string; fields: readonly SettingField[] }[] = [
  {
    title: 'Delivery',
    fields: [
      {
        name: 'visibility_timeout_s',
        label: 'Lease',
        hint: 'Seconds until a delivery that was handed out comes again',
      },
      { name: 'max_attempts', label: 'Attempts', hint: 'Before a delivery is a dead letter' },
      { name: 'push_retry_s', label: 'Waits after failed pushes', hint: 'Seconds, with commas; the last repeats' },
      { name: 'retention_days', label: 'Kept', hint: 'Days that acknowledged deliveries and their events stay' },
    ],
  },
  {
    title: 'Requests in a window',
    fields: [
      { name: 'rate_limit_agent', label: 'Of one agent', hint: 'A number, or off' },
      { name: 'rate_limit_tenant', label: 'Of the whole tenant', hint: 'A number, or off' },
    ],
  },
  {
    title: 'Quotas',
    fields: [
      { name: 'quota_agents', label: 'Agents', hint: 'Inactive ones too' },
      { name: 'quota_interests', label: 'Interests', hint: 'Of all agents, with the feeds of channels' },
      { name: 'quota_memories', label: 'Memories', hint: 'Deleted ones do not count' },
      { name: 'quota_stored_bytes', label: 'Stored bytes', hint: 'Of retained events and of memories' },
      { name: 'quota_events_per_day', label: 'Events in a day', hint: 'Accepted, by UTC' },
    ],
  },
]

/** Returns the problem of a setting as the form says it: there the default is an empty field, not null. */
export const inTheForm = (problem: string | undefined): string | undefined =>
  problem?.replace('or null for the default', 'or nothing for the default')

export const SETTING_NAMES: readonly SettingName[] = GROUPS.flatMap(({ fields }) => fields.map(({ name }) => name))

export function textsOf(settings: TenantSettings): SettingTexts {
  const text = (name: SettingName): string => {
    const value = settings[name]
    return value === null ? '' : Array.isArray(value) ? value.join(', ') : String(value)
  }
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, text(name)])) as SettingTexts
}

/** A text that is not a number is sent as typed, and the service responds with what it expects. */
const numberOr = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text)

function settingOf(name: SettingName, text: string): unknown {
  const typed = text.trim()
  if (typed === '') return null
  if (name !== 'push_retry_s') return numberOr(typed)
  return typed
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(numberOr)
}

/** Returns only the settings that the user changed: somebody else may have changed the others meanwhile. */
export function changesOf(before: SettingTexts, after: SettingTexts): TenantSettingsUpdate {
  const changed = SETTING_NAMES.filter((name) => before[name].trim() !== after[name].trim())
  return Object.fromEntries(changed.map((name) => [name, settingOf(name, after[name])])) as TenantSettingsUpdate
}
