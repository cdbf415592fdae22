// Tries a filter in the page as it is typed. The filter language is the service's own, loaded when the first filter is
// written. The result is a preview; the verdict of the service on saving counts.
import { loadCode } from './load-code.ts'

export interface Mistake {
  /** Line and column, counted from 1, in characters. */
  line: number
  column: number
  reason: string
}

interface Outcome {
  matches: boolean
  why: string
}

export interface TriedFilter {
  mistake: Mistake | null
  test(event: Readonly<Record<string, unknown>>): Outcome
}

const always =
  (matches: boolean, why: string): TriedFilter['test'] =>
  () => ({ matches, why })
/** The language implements bytes with Node's own type, which no browser has. */
const ONLY_THE_SERVICE = 'only the service can try this filter'

export async function tryFilter(source: string): Promise<TriedFilter> {
  if (source.trim() === '') return { mistake: null, test: always(true, 'no filter') }
  const { CelSyntaxError, compile, describeValue, OVER_BUDGET } = await loadCode(() => import('@sensorium/cel'))
  try {
    const program = compile(source, { variables: ['event', 'data'], fallback: 'data' })
    return {
      mistake: null,
      test(event) {
        try {
          const value = program.evaluate([event, event['data']])
          if (value === OVER_BUDGET) return { matches: false, why: 'it takes too much work' }
          if (typeof value === 'symbol') return { matches: false, why: program.why() }
          return { matches: value === true, why: `it gives ${describeValue(value)}` }
        } catch {
          return { matches: false, why: ONLY_THE_SERVICE }
        }
      },
    }
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) return { mistake: null, test: always(false, ONLY_THE_SERVICE) }
    const { line, column, reason } = error
    return { mistake: { line, column, reason }, test: always(false, 'the filter has a mistake') }
  }
}
