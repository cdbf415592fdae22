// Values that a store keeps under a name: for the next process, or for the other nodes.
import { one, type Db } from './db.ts'

/** Returns the value with this name, or undefined if there is none. */
export const readSetting = async (db: Db, name: string): Promise<string | undefined> =>
  (await one<{ value: string }>(db, 'select value from settings where name = ?', [name]))?.value

/** Writes the value with this name. Locks its row. */
export const writeSetting = (tx: Db, name: string, value: string): Promise<number> =>
  tx.run('insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value', [
    name,
    value,
  ])

/** Removes the value with this name. Locks its row, and returns whether there was one, as a count. */
export const removeSetting = (tx: Db, name: string): Promise<number> =>
  tx.run('delete from settings where name = ?', [name])
