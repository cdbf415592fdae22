// The environment that most tests use: two variables, and other names looked up in the second one.
import { compile, ERROR, OVER_BUDGET, toJson, type Budget, type Program } from '../../src/index.ts'

export type Outcome =
  | { outcome: 'match' }
  | { outcome: 'no_match'; value: unknown }
  | { outcome: 'error'; message: string }
  | { outcome: 'over_budget' }

export function program(source: string): Program {
  return compile(source, { variables: ['event', 'data'], fallback: 'data' })
}

export function outcomeOf(compiled: Program, data: unknown, shared?: Budget): Outcome {
  const value = compiled.evaluate([{ data }, data], shared)
  if (value === OVER_BUDGET) return { outcome: 'over_budget' }
  if (value === ERROR) return { outcome: 'error', message: compiled.why() }
  if (value === true) return { outcome: 'match' }
  try {
    return { outcome: 'no_match', value: toJson(value) }
  } catch (error) {
    return { outcome: 'error', message: (error as Error).message }
  }
}

/** Returns the outcome of a filter for this data. */
export function outcome(source: string, data: unknown): Outcome {
  return outcomeOf(program(source), data)
}
