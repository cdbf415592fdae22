// Shows memories to a person: the title, the content, then id, type, scope and time.
import type { Memory, SearchResult } from '@sensorium/client'
import { cleanLine, cleanText } from '../../terminal/clean.ts'
import { paint, screen, type Screen } from '../../terminal/screen.ts'
import { wrap } from '../../terminal/width.ts'
import { when } from '../../terminal/when.ts'

export function showMemory(memory: Memory, left: string, on: Screen = screen): string {
  const indent = ' '.repeat(left.length)
  const columns = on.columns === null ? null : on.columns - left.length
  const about = `${memory.id}  ${memory.type}  ${memory.scope}  ${when(memory.created_at, on)}`
  return [
    `${left}${paint('bold', cleanLine(memory.title), on)}`,
    ...wrap(cleanText(memory.content), columns).map((line) => `${indent}${line}`),
    `${indent}${paint('dim', about, on)}`,
  ].join('\n')
}

/** Shows what was found, each with its score, and with its signals if they were asked for. */
export function showFound(results: readonly SearchResult[], none: string): string {
  const found = results.map(({ memory, score, signals }) => {
    const shown = showMemory(memory, `${score.toFixed(2)}  `)
    if (signals === undefined) return shown
    const made = Object.entries(signals).map(([name, value]) => `${name} ${value.toFixed(2)}`)
    return `${shown}\n      ${paint('dim', made.join('  '))}`
  })
  return found.length === 0 ? none : found.join('\n\n')
}
