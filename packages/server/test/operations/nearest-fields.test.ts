// Which known fields a name that is not known is taken for
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestFields } from '../../src/operations/nearest-fields.ts'
import { unknownField } from '../../src/operations/unknown-field.ts'
import { Type } from '@sensorium/contract'

const NACK = ['delivery_ids', 'retry_after_seconds', 'reason', 'dead_letter']
const INTEREST = ['event_type', 'filter_expression', 'priority', 'enrichment_depth', 'backfill']
const MEMORY = ['type', 'scope', 'title', 'content', 'team_id', 'project_id', 'source_id', 'source_url', 'expires_at']
const AGENT = ['name', 'description', 'delivery_mode', 'client_type', 'webhook_url', 'external_id']
const RELATE = ['memory_id', 'target_memory_id', 'relationship_type', 'strength']

const TAKEN_FOR: [given: string, known: string[], near: string[]][] = [
  // A part of a known name, or a known name and more.
  ['retry_after', NACK, ['retry_after_seconds']],
  ['retryAfter', NACK, ['retry_after_seconds']],
  ['delivery-id', NACK, ['delivery_ids']],
  ['ids', NACK, ['delivery_ids']],
  ['filter', INTEREST, ['filter_expression']],
  ['type', INTEREST, ['event_type']],
  ['enrich', INTEREST, ['enrichment_depth']],
  ['enrichmentDepth', INTEREST, ['enrichment_depth']],
  ['filter_expression', ['event_type', 'filter', 'priority'], ['filter']],
  ['team', MEMORY, ['team_id']],
  ['expires', MEMORY, ['expires_at']],
  ['memory_type', MEMORY, ['type']],
  ['target', RELATE, ['target_memory_id']],
  ['external', AGENT, ['external_id']],
  // Several are as likely.
  ['source', MEMORY, ['source_id', 'source_url']],
  ['id', MEMORY, ['team_id', 'source_id', 'project_id']],
  // A slip of the fingers.
  ['nmae', AGENT, ['name']],
  ['desciption', AGENT, ['description']],
  ['clienttype', AGENT, ['client_type']],
  ['Priorty', INTEREST, ['priority']],
  ['retry_after_ms', NACK, ['retry_after_seconds']],
  // Nothing of the kind.
  ['delay', NACK, []],
  ['endpoint', AGENT, []],
  ['top_k', MEMORY, []],
  ['tenant', MEMORY, []],
  ['from', RELATE, []],
  ['to', RELATE, []],
  ['e', INTEREST, []],
  ['', INTEREST, []],
  ['_', INTEREST, []],
  ['é', INTEREST, []],
  ['f'.repeat(5_000), INTEREST, []],
  ['any', [], []],
]

test('[OPS-23] [MCP-30] an unknown name is taken for the field that it is a part of, or a slip of, or for none', () => {
  for (const [given, known, near] of TAKEN_FOR) assert.deepEqual(nearestFields(given, known), near, given)
})

test('[OPS-23] what is expected names the near fields, or all if none is near', () => {
  const expected = (known: readonly string[], given: string): [unknown, unknown] => {
    const schema = Type.Object(Object.fromEntries(known.map((name) => [name, Type.Optional(Type.String())])))
    const found = unknownField(schema, { [given]: 1 })
    return [found?.expected, found?.example]
  }
  assert.deepEqual(expected(NACK, 'retry_after'), [
    'a known field; the nearest is retry_after_seconds',
    'retry_after_seconds',
  ])
  assert.deepEqual(expected(MEMORY, 'source'), ['a known field; the nearest are source_id, source_url', 'source_id'])
  assert.deepEqual(expected(NACK, 'delay'), [
    'a known field: delivery_ids, retry_after_seconds, reason, dead_letter',
    null,
  ])
})
