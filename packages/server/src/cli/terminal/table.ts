// Tables for people: a column is as wide as its widest cell, and numbers are right-aligned. On a terminal the longest
// texts are cut until the table fits; ids, numbers and times never are. A table that does not fit even then is shown as
// a record for each row.
import { cleanLine } from './clean.ts'
import { paint, screen, type Screen, type Styled } from './screen.ts'
import { record } from './record.ts'
import { cut, padEnd, padStart, widthOf } from './width.ts'

type Cell = string | number | null | Styled

const GAP = 2
/**
 * Texts keep at least LEAST columns in a table of up to MOST_READ rows, which people read. A longer table is scanned,
 * and its texts may be cut to LEAST_SCANNED.
 */
const LEAST = 20
const LEAST_SCANNED = 10
const MOST_READ = 5
const isCuttable = (cell: Cell): boolean => typeof cell === 'object' && cell?.cuttable === true

/** An id or the prefix of a key, which people copy. */
const ID = /\b(?:[a-z]{2,5}_[0-9a-z]{26}|ak_live_\w+)/

const textOf = (cell: Cell): string =>
  cell === null ? '' : typeof cell === 'object' ? cleanLine(cell.text) : cleanLine(String(cell))

function widthsFor(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns: number | null,
): number[] | null {
  const widths = head.map((name, i) => Math.max(widthOf(name), ...rows.map((row) => widthOf(textOf(row[i]!)))))
  if (columns === null) return widths
  const shortest = rows.length > MOST_READ ? LEAST_SCANNED : LEAST
  const least = head.map((name, i) => {
    const cells = rows.map((row) => row[i]!)
    const rigid = cells.some((cell) => typeof cell === 'number' || (!isCuttable(cell) && ID.test(textOf(cell))))
    const enough = cells.some(isCuttable) ? LEAST_SCANNED : shortest
    return rigid ? widths[i]! : Math.min(widths[i]!, Math.max(enough, widthOf(name)))
  })
  const total = (): number => widths.reduce((sum, width) => sum + width, 0) + GAP * (head.length - 1)
  while (total() > columns) {
    const room = widths.map((width, i) => (width > least[i]! ? width : 0))
    const widest = Math.max(...room)
    if (widest === 0) return null
    widths[room.indexOf(widest)]!--
  }
  return widths
}

export function table(head: readonly string[], rows: readonly (readonly Cell[])[], on: Screen = screen): string {
  const widths = widthsFor(head, rows, on.columns)
  if (widths === null)
    return rows
      .map((row) =>
        record(
          head.map((name, i) => [name, row[i]!] as const),
          on,
        ),
      )
      .join('\n\n')
  const line = (cells: readonly Cell[], style?: Styled['style']): string =>
    cells
      .map((cell, i) => {
        const text = cut(textOf(cell), widths[i]!)
        const painted = style ?? (cell !== null && typeof cell === 'object' ? cell.style : undefined)
        const shown = painted === undefined ? text : paint(painted, text, on)
        return typeof cell === 'number' ? padStart(shown, widths[i]!) : padEnd(shown, widths[i]!)
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  const shownHead = head.map((name, i) =>
    rows.length > 0 && typeof rows[0]![i] === 'number' ? padStart(name, widths[i]!) : name,
  )
  return [line(on.columns === null ? head : shownHead, 'bold'), ...rows.map((row) => line(row))].join('\n')
}

/** Shows one page of a list as a table, and how much of the list that is. */
export function list(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  { none, total }: { none: string; total?: number },
  on: Screen = screen,
): string {
  if (rows.length === 0) return none
  const shown = total === undefined ? '' : `\n${paint('dim', `${rows.length} of ${total}`, on)}`
  return table(head, rows, on) + shown
}
