// Shows a memory to a person: its title, its content, then id, type, scope and time.
import type { Memory } from '@sensorium/client'
import { cleanLine, cleanText } from '../terminal/clean.ts'
import { paint, screen, type Screen } from '../terminal/screen.ts'
import { wrap } from '../terminal/width.ts'
import { when } from '../terminal/when.ts'

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
