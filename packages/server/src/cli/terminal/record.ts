// Shows one object as names and values below each other. Long values are wrapped beside their name.
import { cleanText } from './clean.ts'
import { paint, screen, type Screen, type Styled } from './screen.ts'
import { padEnd, widthOf, wrap } from './width.ts'

export type Field = readonly [name: string, value: string | number | null | undefined | Styled]

export function record(fields: readonly Field[], on: Screen = screen): string {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => widthOf(name)))
  return shown
    .map(([name, value]) => {
      const text = cleanText(typeof value === 'object' && value !== null ? value.text : String(value))
      const lines = wrap(text, on.columns === null ? null : Math.max(20, on.columns - width - 2))
      const style = typeof value === 'object' && value !== null ? (value.style ?? null) : null
      return lines
        .map((line, i) => {
          const left = i === 0 ? paint('dim', padEnd(name, width), on) : ' '.repeat(width)
          return `${left}  ${style === null ? line : paint(style, line, on)}`.trimEnd()
        })
        .join('\n')
    })
    .join('\n')
}
