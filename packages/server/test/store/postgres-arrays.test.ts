// Rows as arrays of their columns: what PostgreSQL takes apart is what was put together, as text and in binary.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { columnArray } from '../../src/store/postgres-arrays.ts'
import { POSTGRES_URL } from '../support/engines.ts'

test('[LOAD-10] a short column is sent as text, one with a long value or with bytes in binary', () => {
  assert.equal(columnArray([['a"b'], [null]], 0, 'text'), '{"a\\"b",null}')
  assert.equal(columnArray([[1], [null]], 0, 'bigint'), '{1,null}')
  assert.ok(Buffer.isBuffer(columnArray([['a'], ['"'.repeat(4_097)]], 0, 'text')))
  assert.ok(Buffer.isBuffer(columnArray([[Buffer.of(0)]], 0, 'bytea')))
})

if (POSTGRES_URL)
  test('[LOAD-10] values come back as they were sent', async () => {
    const client = new pg.Client(POSTGRES_URL)
    await client.connect()
    const unit = fc.constantFrom('a', '"', '\\', ',', '{', '}', ' ', 'é', '😀', 'NULL', '\n')
    const short = fc.array(unit, { maxLength: 6 }).map((units) => units.join(''))
    const text = fc.oneof(
      short,
      fc.tuple(short, unit).map(([start, filler]) => start + filler.repeat(5_000)),
      fc.constant(null),
    )
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array)),
      fc.constant(null),
    )
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(text, bytes), { minLength: 1, maxLength: 8 }), async (rows) => {
          const result = await client.query<{ t: string | null; b: Buffer | null }>(
            'select * from unnest($1::text[], $2::bytea[]) as taken (t, b)',
            [columnArray(rows, 0, 'text'), columnArray(rows, 1, 'bytea')],
          )
          assert.deepEqual(
            result.rows.map(({ t, b }) => [t, b]),
            rows,
          )
        }),
        { numRuns: 100 },
      )
    } finally {
      await client.end()
    }
  })
