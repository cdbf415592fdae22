// The rows of activity: one for each tenant, minute and node.
import type { Db, Insert } from '../store/db.ts'
import type { Aging } from '../store/purge.ts'

export const ACTIVITY_METRICS = ['events', 'deliveries', 'acknowledgements', 'failures', 'dead_letters'] as const
export type ActivityMetric = (typeof ACTIVITY_METRICS)[number]
export type Counts = Record<ActivityMetric, number>

interface MinuteRow extends Counts {
  minute: number
}

const ADDED: Insert = {
  into: 'activity_minutes',
  columns: {
    tenant_id: 'text',
    minute: 'bigint',
    node: 'text',
    events: 'bigint',
    deliveries: 'bigint',
    acknowledgements: 'bigint',
    failures: 'bigint',
    dead_letters: 'bigint',
  },
  conflict: `on conflict (tenant_id, minute, node) do update set ${ACTIVITY_METRICS.map((name) => `${name} = activity_minutes.${name} + excluded.${name}`).join(', ')}`,
}

/** Adds counts to a minute of any number of tenants. Only this node writes these rows. */
export const addActivity = (db: Db, minute: number, node: string, counts: ReadonlyMap<string, Counts>) =>
  db.insertLater(
    ADDED,
    [...counts].map(([tenantId, count]) => [tenantId, minute, node, ...ACTIVITY_METRICS.map((name) => count[name])]),
  )

/** The counts of a tenant since a minute, over all nodes, oldest first. Locks nothing. */
export const readMinutes = (db: Db, tenantId: string, since: number) =>
  db.rows<MinuteRow>(
    // Cast because PostgreSQL sums bigint into numeric, which would arrive as a text.
    `select minute, ${ACTIVITY_METRICS.map((name) => `cast(sum(${name}) as bigint) as ${name}`).join(', ')}
       from activity_minutes where tenant_id = ? and minute >= ? group by minute order by minute`,
    [tenantId, since],
  )

/** How a purge finds old minutes. */
export const AGING_MINUTES: Aging = { table: 'activity_minutes', key: ['minute', 'node'], age: 'minute' }
