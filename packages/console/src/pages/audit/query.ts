// The filters of the log as its address has them, and as the service takes them.
import type { AuditList, Operations } from '@sensorium/client'

export type AuditEntry = AuditList['entries'][number]

export interface AuditSearch {
  actor?: string
  action?: string
  /** Days, as `2030-01-31`, in the time of this machine. */
  since?: string
  until?: string
  open?: string
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The first or the last moment of a day; nothing for what is no day. */
function momentOf(day: string | undefined, time: string): string | undefined {
  const moment = day !== undefined && DAY.test(day) ? new Date(`${day}T${time}`) : null
  return moment === null || Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}

export function queryOf({ actor, action, since, until }: AuditSearch): Operations['listAudit']['query'] {
  const from = momentOf(since, '00:00:00.000')
  const to = momentOf(until, '23:59:59.999')
  return {
    ...(actor ? { actor } : {}),
    ...(action ? { action } : {}),
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  }
}

export const entriesOf = ({ entries }: AuditList): AuditEntry[] => entries
