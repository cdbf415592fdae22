import { invalid } from '../../kernel/failure.ts'
import { distribute } from '../../store/distribute.ts'
import type { OperatorRun } from '../command.ts'

const MOST_SHARDS = 1024

function readShards(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const shards = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (shards >= 1 && shards <= MOST_SHARDS) return shards
  throw invalid({
    field: '--shards',
    value: text,
    expected: `a whole number from 1 to ${MOST_SHARDS}`,
    example: '64',
  })
}

export const run: OperatorRun = async ({ options, withStore }) => {
  const shards = readShards(options['shards'])
  const { tables, refused } = await withStore((store) => distribute(store, shards))
  const said =
    tables.length === 0 ? 'Every table is distributed already.' : `Distributed now: ${tables.sort().join(', ')}.`
  const trouble = refused.map((line) => `\nA worker refused \`set enable_seqscan = off\` for the database: ${line}`)
  return { json: { tables, refused }, text: said + trouble.join(''), exitCode: refused.length === 0 ? 0 : 1 }
}
