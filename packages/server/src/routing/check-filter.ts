// A filter is compiled once before it is stored, so that only filters that parse are ever evaluated.
import { invalid } from '../kernel/failure.ts'
import { CelSyntaxError } from '@sensorium/cel'
import { compileFilter } from './filter.ts'

/** Rejects a filter that does not parse, and says where it fails. A missing filter is valid. */
export function checkFilter(field: string, source: string | null | undefined): void {
  if (source === null || source === undefined) return
  try {
    compileFilter(source)
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    throw invalid({
      field,
      value: source,
      expected: `a CEL expression, but this has ${error.message}`,
      example: 'data.total > 100',
    })
  }
}
