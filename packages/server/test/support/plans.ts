// Whether a statement finds its rows by an index, whatever the statistics: it is planned once for all values, as
// PostgreSQL does after the first few executions, on tables that were never analysed. Reading a whole index is as bad
// as reading the table, and its cost grows with the number of rows.
import pg from 'pg'

export interface Plan {
  'Node Type'?: string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Plan[]
}

export const numbered = (sql: string): string => {
  let n = 0
  return sql.replace(/\?/g, () => `$${++n}`)
}

function* nodesOf(plan: Plan): Generator<Plan> {
  yield plan
  for (const part of plan.Plans ?? []) yield* nodesOf(part)
}

/** The first column of each index. */
async function leadingColumns(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; first: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid, 1, true) as first
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      where t.relnamespace = current_schema()::regnamespace`,
  )
  return new Map(rows.map(({ name, first }) => [name, first]))
}

/**
 * Returns the lines of the plan that a session with generic plans makes for a statement. `query` runs in that session.
 */
export async function explainGeneric<R>(query: (sql: string) => Promise<R[]>, sql: string, options = ''): Promise<R[]> {
  const text = numbered(sql)
  const values = Array(new Set(text.match(/\$\d+/g)).size).fill('null')
  await query(`prepare looked_at as ${text}`)
  const lines = await query(`explain ${options} execute looked_at${values.length > 0 ? `(${values.join()})` : ''}`)
  await query('deallocate looked_at')
  return lines
}

export interface Planner {
  /** Returns how the statement finds its rows if not by an index, or null if an index leads to them. */
  whyNotByIndex(sql: string): Promise<string | null>
  end(): Promise<void>
}

export async function openPlanner(): Promise<Planner> {
  const client = new pg.Client(process.env['TEST_POSTGRES_PLANNED'])
  await client.connect()
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off')
  const firsts = await leadingColumns(client)

  const howFound = (node: Plan): string | null => {
    if (node['Node Type'] === 'Seq Scan') return `reads all of ${node['Relation Name']}`
    const index = node['Index Name']
    const first = index === undefined ? undefined : firsts.get(index)
    return first === undefined || node['Index Cond']?.includes(first) ? null : `reads all of the index ${index}`
  }

  return {
    async whyNotByIndex(sql) {
      if (!/^\s*(with|select|update|delete)\b/i.test(sql)) return null
      const query = async (text: string) => (await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(text)).rows
      const [line] = await explainGeneric(query, sql, '(format json, costs off)')
      for (const node of nodesOf(line!['QUERY PLAN'][0].Plan)) {
        const why = howFound(node)
        if (why !== null) return why
      }
      return null
    },
    end: () => client.end(),
  }
}
