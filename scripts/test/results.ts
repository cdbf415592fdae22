// The results of the checks and of the test files, and how they are printed.
import { styleText } from 'node:util'

export interface Failed {
  name: string
  where: string
  text: string
}

export interface Result {
  title: string
  passed: string[]
  failures: Failed[]
  /** Why each skipped test was skipped. */
  skipped: string[]
  /** What the file printed, shown when it fails or was chosen by name. */
  output: string
  ms: number
  /** Seconds of CPU that the file and its processes took; null if it ended before it could report them. */
  cpu: number | null
}

/** The last test of a file, that it left the process as it found it. Its diagnostic is the CPU that the file took. */
export const LEFT_BEHIND = 'leaves nothing behind'

export const newResult = (title: string): Result => ({
  title,
  passed: [],
  failures: [],
  skipped: [],
  output: '',
  ms: 0,
  cpu: null,
})

const indent = (text: string): string => text.replace(/^(?=.)/gm, '      ')

export const time = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Prints one result, with the names of all passed tests if this file was chosen. */
export function printResult(result: Result, wasChosen: boolean): void {
  const { title, passed, failures, skipped, output, ms, cpu } = result
  const bad = failures.length > 0
  const parts = [`${passed.length} passed`]
  if (bad) parts.push(`${failures.length} failed`)
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`)
  const mark = bad ? styleText('red', '✗') : styleText('green', '✔')
  const took = cpu === null ? time(ms) : `${time(ms)}, CPU ${time(cpu * 1000)}`
  console.log(`${mark} ${title}  ${parts.join(', ')}  ${styleText('gray', took)}`)
  if (wasChosen) for (const name of passed) console.log(`    ${styleText('green', '✔')} ${name}`)
  for (const failure of failures) {
    console.log(`\n    ${styleText('red', `✗ ${failure.name}`)}  ${styleText('gray', failure.where)}`)
    console.log(indent(failure.text))
  }
  if ((bad || wasChosen) && output !== '') console.log(`\n    Its output:\n${indent(output.trimEnd())}`)
  if (bad) console.log('')
}

/** How many lines of a failure are repeated at the end: a build machine may keep only the end of a log. */
const SHOWN_AGAIN = 12

/** Prints why tests were left out, and which failed. */
export function printTroubles(results: readonly Result[]): void {
  const skipped = results.flatMap((result) => result.skipped)
  for (const [why, tests] of Object.entries(Object.groupBy(skipped, (reason) => reason)))
    console.log(`Left out: ${tests?.length} (${why})`)
  if (results.length <= 1) return
  for (const { title, failures } of results) {
    for (const { name, text } of failures) {
      console.log(`Failed: ${title}: ${name}`)
      console.log(indent(text.split('\n', SHOWN_AGAIN).join('\n')))
    }
  }
}

const COSTLIEST = 10

export function printCosts(results: readonly Result[], cpuSeconds: number): void {
  const costly = results.toSorted((one, other) => (other.cpu ?? 0) - (one.cpu ?? 0)).slice(0, COSTLIEST)
  if (results.length <= costly.length) return
  console.log(`CPU of the whole run: ${time(cpuSeconds * 1000)}. The costliest files:`)
  for (const { title, cpu } of costly) console.log(`  ${time((cpu ?? 0) * 1000).padStart(7)}  ${title}`)
}
