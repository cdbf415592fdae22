// Columns for people: as wide as their widest cell, numbers to the right.

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => String(row[i]).length)))
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, i) => (typeof cell === 'number' ? String(cell).padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].join('\n')
}
