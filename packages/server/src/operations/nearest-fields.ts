// Finds the fields that were probably meant by a name that is not known. Pure.
import { editDistance } from '../kernel/edit-distance.ts'

/** A longer name is no misspelling, and comparing it would cost its length times that of each field. */
const MAX_COMPARED = 64

/** Two letters begin too many names. */
const LEAST_BEGINNING = 3

/** Writes a name as fields are written: `filterExpression` and `filter-expression` become `filter_expression`. */
const asField = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^a-zA-Z0-9]+/g, '_')
    .toLowerCase()

/** Whether the words of one name stand in the other: `retry_after` in `retry_after_seconds`, `type` in `event_type`. */
const holdsWords = (whole: string, part: string): boolean => `_${whole}_`.includes(`_${part}_`)

const beginsWith = (whole: string, part: string): boolean => part.length >= LEAST_BEGINNING && whole.startsWith(part)

const isPartOf = (part: string, whole: string): boolean => holdsWords(whole, part) || beginsWith(whole, part)

/**
 * Returns the known names that a given one is a part of, or that are a part of it, most similar first. Where there are
 * none, the most similar name if no more than a third of its letters differ; by letters alone, `retry_after` would be
 * `dead_letter`. Otherwise returns none: a wrong name leads further astray than no name.
 */
export function nearestFields(given: string, known: readonly string[]): string[] {
  const name = asField(given.slice(0, MAX_COMPARED))
  const compared = known
    .map((field) => ({ field, away: editDistance(name, field), longer: Math.max(name.length, field.length) }))
    .sort((a, b) => a.away - b.away)
  const parts = compared.filter(({ field }) => isPartOf(name, field) || isPartOf(field, name))
  const [first] = parts.length > 0 ? [] : compared
  const near = first && first.away <= first.longer / 3 ? [first] : parts
  return near.map(({ field }) => field)
}
