// The speed of the store alone with the rows of a publish: an event and three deliveries, 64 events a transaction, one
// transaction after the other. Nothing in front of the store can be faster.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { insertDeliveries } from '../../packages/server/src/delivery/insert-deliveries.ts'
import { insertEvents } from '../../packages/server/src/events/sql.ts'
import { systemClock } from '../../packages/server/src/kernel/clock.ts'
import { migrate } from '../../packages/server/src/store/migrate.ts'
import { openPostgres } from '../../packages/server/src/store/postgres.ts'
import { databaseFile } from '../../packages/server/src/store/data-directory.ts'
import { openSqlite } from '../../packages/server/src/store/sqlite.ts'
import { startPostgres } from './postgres.ts'

const GROUP = 64
const TENANT = 'ten_01hv3k8z9q4m7t2x5c6w8r0s1d'
const RECIPIENTS = ['a', 'b', 'c'].map((last) => `agt_01hv3k8z9q4m7t2x5c6w8r0s1${last}`)
const ENVELOPE = JSON.stringify({ specversion: '1.0', text: 'x'.repeat(300) })

/** Returns events a second. */
export async function rawPublish(engine: 'sqlite' | 'postgres', seconds: number): Promise<number> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-bench-'))
  const postgres = engine === 'postgres' ? await startPostgres() : null
  const store = postgres ? openPostgres({ url: postgres.url, clock: systemClock }) : openSqlite(databaseFile(folder))
  await migrate(store, Date.now())
  let n = 0
  const group = async (): Promise<void> => {
    const numbers = Array.from({ length: GROUP }, () => ++n)
    await store.tx(async (tx) => {
      await insertEvents(
        tx,
        numbers.map((i) => ({
          tenant_id: TENANT,
          id: `e-${i}`,
          type: 'com.bench.order.created',
          source: '/bench',
          subject: null,
          sender_id: RECIPIENTS[0]!,
          envelope: ENVELOPE,
          causation_id: null,
          received_at: i,
          place: 0,
        })),
      )
      await insertDeliveries(
        tx,
        numbers.flatMap((i) =>
          RECIPIENTS.map((recipient_id, at) => ({
            tenant_id: TENANT,
            recipient_id,
            id: `dlv_${String(i * 3 + at).padStart(26, '0')}`,
            event_id: `e-${i}`,
            priority: 0,
            enrichment: 'none',
            matched: 'int_01hv3k8z9q4m7t2x5c6w8r0s1d',
            created_at: i,
          })),
        ),
      )
    })
  }
  const started = performance.now()
  while (performance.now() - started < seconds * 1000) await group()
  const rate = n / ((performance.now() - started) / 1000)
  await store.close()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
  return rate
}
