// The columns of every table of a store.
import type { Store } from '../../src/store/db.ts'

export async function columns(store: Store): Promise<{ table: string; column: string; key: number }[]> {
  // `key` is the position of the column in the primary key, or 0 if it is not part of it.
  return store.dialect.engine === 'sqlite'
    ? store.rows(`select m.name as "table", c.name as "column", c.pk as key from sqlite_master m join pragma_table_info(m.name) c
                   where m.type = 'table' and m.name not like 'sqlite_%' order by m.name, c.cid`)
    : store.rows(`select c.table_name as "table", c.column_name as "column", coalesce(k.ordinal_position, 0)::integer as key
                    from information_schema.columns c
                    left join information_schema.table_constraints t
                      on t.table_schema = c.table_schema and t.table_name = c.table_name and t.constraint_type = 'PRIMARY KEY'
                    left join information_schema.key_column_usage k
                      on k.constraint_name = t.constraint_name and k.table_name = c.table_name and k.column_name = c.column_name
                   where c.table_schema = current_schema() order by c.table_name, c.ordinal_position`)
}
