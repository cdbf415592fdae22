// The secrets that sign an agent's pushes: made by the first push or on request, rotated with an overlap.
import { isId } from '@sensorium/contract'
import { openUser } from '../agents/endpoint-user.ts'
import { scheduleOf } from '../agents/sql.ts'
import { notFound } from '../kernel/failure.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { one, type Db } from '../store/db.ts'
import { isSomethingDue } from '../delivery/claim-sql.ts'
import type { Mailbox } from '../delivery/sql.ts'
import { newPushSecret } from './signature.ts'
import { addFirstSecret, addSecret, dropSecrets, retireSecrets, targetRows } from './sql.ts'

/** How long a secret still signs after it was replaced. */
const OVERLAP_MS = 24 * 3_600_000
/** Rotating in a loop must not grow a header without end. */
const MAX_VALID = 5

const contextOf = ({ tenantId, recipientId }: Mailbox): string => `push-secret ${tenantId} ${recipientId}`

const MAX_OPENED = 10_000

/** Opens sealed secrets and caches them: a busy endpoint has its secret read with every claim. */
export function makeOpenSecret(sealing: Secrets): OpenSecret {
  const opened = new Map<string, string>()
  return (sealed, mailbox) => {
    const key = `${contextOf(mailbox)} ${sealed}`
    let secret = opened.get(key)
    if (secret === undefined) {
      if (opened.size >= MAX_OPENED) opened.clear()
      opened.set(key, (secret = sealing.open(sealed, contextOf(mailbox))))
    }
    return secret
  }
}

type OpenSecret = (sealed: string, mailbox: Mailbox) => string

export interface Target {
  url: string
  /** The URL as it is stored, with user and password sealed: what the endpoint is known by. */
  endpoint: string
  /** The agent's own push schedule, if it has one. */
  schedule: readonly number[] | null
  /** Newest first. */
  secrets: string[]
}

/**
 * Returns where an agent is pushed to and the secrets that sign its pushes; the first push makes a secret. Null if
 * there is nothing to push or nowhere to push it.
 */
export async function pushTarget(
  tx: Db,
  sealing: Secrets,
  open: OpenSecret,
  mailbox: Mailbox,
  now: number,
): Promise<Target | null> {
  const { tenantId, recipientId } = mailbox
  let rows = await targetRows(tx, tenantId, recipientId, now)
  if (rows.length === 0) return null
  if (rows[0]!.sealed === null) {
    // Without anything to push there is no first push yet.
    if (!(await isSomethingDue(tx, mailbox, now))) return null
    await addFirstSecret(tx, tenantId, recipientId, sealing.seal(newPushSecret(), contextOf(mailbox)), now)
    // Another node may have been first: the stored secret counts.
    rows = await targetRows(tx, tenantId, recipientId, now)
  }
  const { delivery_endpoint, retry_schedule } = rows[0]!
  return {
    url: openUser(sealing, { tenant_id: tenantId, id: recipientId }, delivery_endpoint),
    endpoint: delivery_endpoint,
    schedule: scheduleOf(retry_schedule),
    secrets: rows.map((row) => open(row.sealed!, mailbox)),
  }
}

/** Makes a new secret and returns it. The secrets before it stay valid for another day. */
export async function rotatePushSecret(tx: Db, sealing: Secrets, mailbox: Mailbox, now: number): Promise<string> {
  const { tenantId, recipientId } = mailbox
  // Locking the agent's row makes two rotations run one after the other.
  const sql = `select id from agents where tenant_id = ? and id = ? ${tx.dialect.forUpdate}`
  if (!isId('agent', recipientId) || !(await one(tx, sql, [tenantId, recipientId])))
    throw notFound('agent', recipientId)
  const secret = newPushSecret()
  await retireSecrets(tx, tenantId, recipientId, now + OVERLAP_MS)
  const added = await addSecret(tx, tenantId, recipientId, sealing.seal(secret, contextOf(mailbox)), now)
  // The first push of another node added its secret at this moment; it is retired like any other.
  if (added === 0) return rotatePushSecret(tx, sealing, mailbox, now)
  await dropSecrets(tx, tenantId, recipientId, now, MAX_VALID)
  return secret
}
