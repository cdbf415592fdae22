// Prints a table and saves the numbers as JSON.
import { mkdirSync, writeFileSync } from 'node:fs'

export function report(name: string, rows: Record<string, unknown>[]): void {
  console.log(`\n${name}`)
  console.table(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [key, typeof value === 'number' ? Number(value.toFixed(2)) : value]),
      ),
    ),
  )
  const folder = new URL('../results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${name}.json`, folder), JSON.stringify(rows, null, 2) + '\n')
}
