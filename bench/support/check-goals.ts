// Says which goals a scenario missed. The process then ends with 1, so call this once everything is stopped.

/** Columns of the table, each with the number that it must stay below. What could not be measured is missed too. */
export type Goals = Readonly<Record<string, number>>

export function checkGoals(rows: readonly Record<string, unknown>[], goals: Goals): void {
  const missed = rows.flatMap((row) => {
    const name = Object.values(row).filter((value) => typeof value === 'string')
    return Object.entries(goals)
      .filter(([column, limit]) => !(Number(row[column]) < limit))
      .map(
        ([column, limit]) => `${name.join(', ')}: ${column} is ${Number(row[column]).toFixed(2)}, not below ${limit}`,
      )
  })
  if (missed.length === 0) return
  console.error(`\nGoals that were missed:\n${missed.join('\n')}`)
  process.exitCode = 1
}
