// Dead letters: listed, and replayed into the mailbox they came from.
import { isId } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import { one, type Db, type Value } from '../store/db.ts'
import { listBody, readEnvelope, shortText, type Item, type JsonBody } from './long-payloads.ts'
import { MINE, type Mailbox } from './sql.ts'

interface DeadRow {
  id: string
  event_id: string
  recipient_id: string
  attempts: number
  dlq_reason: string
  created_at: number
  dead_lettered_at: number
  /** Null where it is long. */
  envelope: string | null
}

/** Whose dead letters: one recipient's, or the whole tenant's. */
export interface DeadLetterScope {
  tenantId: string
  recipientId: string | null
}

function whereOf({ tenantId, recipientId }: DeadLetterScope): { where: string; values: Value[] } {
  return recipientId === null
    ? { where: 'd.tenant_id = ? and d.dead_lettered_at is not null', values: [tenantId] }
    : {
        where: 'd.tenant_id = ? and d.recipient_id = ? and d.dead_lettered_at is not null',
        values: [tenantId, recipientId],
      }
}

/** A page as JSON, newest first, and how many there are. */
export async function listDeadLetters(
  db: Db,
  scope: DeadLetterScope,
  offset: number,
  limit: number,
): Promise<JsonBody> {
  const { where, values } = whereOf(scope)
  const rows = await db.rows<DeadRow>(
    `select d.id, d.event_id, d.recipient_id, d.attempts, d.dlq_reason, d.created_at, d.dead_lettered_at, ${shortText('e.envelope')} as envelope
       from deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where ${where} order by d.dead_lettered_at desc, d.id desc limit ? offset ?`,
    [...values, limit, offset],
  )
  const count = await one<{ n: number }>(db, `select count(*) as n from deliveries d where ${where}`, values)
  const items = rows.map((row): Item => {
    if (row.envelope !== null) return deadLetterJson(row, row.envelope)
    return async () => {
      const envelope = await readEnvelope(db, scope.tenantId, row.event_id)
      return envelope === undefined ? undefined : deadLetterJson(row, envelope)
    }
  })
  return listBody('{"dlq_items":[', items, () => `],"total":${count?.n ?? 0}}`)
}

const deadLetterJson = (row: DeadRow, envelope: string): string =>
  `{"id":"${row.id}","event_id":${JSON.stringify(row.event_id)},"agent_id":"${row.recipient_id}","attempt_count":${row.attempts},` +
  `"dlq_reason":${JSON.stringify(row.dlq_reason)},"payload":${envelope},"created_at":"${iso(row.created_at)}","dead_lettered_at":"${iso(row.dead_lettered_at)}"}`

/** The dead letter, held until the transaction ends, with what is needed to route it again. */
export async function lockDeadLetter(
  tx: Db,
  scope: DeadLetterScope,
  id: string,
): Promise<{ mailbox: Mailbox; envelope: string; matched: string }> {
  const { where, values } = whereOf(scope)
  const row = isId('delivery', id)
    ? await one<{ recipient_id: string; event_id: string; matched: string }>(
        tx,
        `select d.recipient_id, d.event_id, d.matched from deliveries d where ${where} and d.id = ? ${tx.dialect.forUpdate}`,
        [...values, id],
      )
    : undefined
  if (!row) throw notFound('delivery', id)
  const event = await one<{ envelope: string }>(tx, 'select envelope from events where tenant_id = ? and id = ?', [
    scope.tenantId,
    row.event_id,
  ])
  const mailbox = { tenantId: scope.tenantId, recipientId: row.recipient_id }
  return { mailbox, envelope: event!.envelope, matched: row.matched }
}

/** Starts a dead letter over: due at once, no attempt yet. `fresh` is what applies today; null leaves it as it was. */
export async function revive(
  tx: Db,
  { tenantId, recipientId }: Mailbox,
  id: string,
  fresh: { priority: number; enrichment: string; matched: string } | null,
): Promise<void> {
  await tx.run(
    `update deliveries set state = 'ready', attempts = 0, due_at = null, wake_at = null, first_attempt_at = null, last_error = null, dead_lettered_at = null,
            dlq_reason = null, enriched = null, priority = coalesce(?, priority), enrichment = coalesce(?, enrichment), matched = coalesce(?, matched)
      where tenant_id = ? and ${MINE} and id = ? and dead_lettered_at is not null`,
    [fresh?.priority ?? null, fresh?.enrichment ?? null, fresh?.matched ?? null, tenantId, recipientId, id],
  )
}
