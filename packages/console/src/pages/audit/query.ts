// The filters of the log, as they are in the address and as the service takes them.
import type { AuditList, Operations } from '@sensorium/client'

export type AuditEntry = AuditList['entries'][number]

export interface AuditSearch {
  actor?: string
  action?: string
  /** Days, such as `2030-01-31`, in local time. */
  since?: string
  until?: string
  open?: string
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Returns the moment of a day at that local time, or undefined if the text is not a day. */
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
