// The colours of texts on every surface they may be on, also while a row is pointed at or chosen.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const TEXTS = ['ink', 'quiet', 'faint']
const SURFACES = ['paper', 'raised', 'sunken', 'hover', 'selected']
/** What WCAG asks for text of this size. */
const LEAST = 4.5

const tokens = readFileSync(path.join(import.meta.dirname, '../src/styles/tokens.css'), 'utf8')

function colourOf(name: string, theme: 'light' | 'dark'): string {
  const [, light, dark] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens)!
  return theme === 'light' ? light! : dark!
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

test('[UI-18] every text can be read on every surface, in both themes', () => {
  for (const theme of ['light', 'dark'] as const)
    for (const text of TEXTS)
      for (const surface of SURFACES) {
        const [a, b] = [luminance(colourOf(text, theme)), luminance(colourOf(surface, theme))]
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
        assert.ok(contrast >= LEAST, `${text} on ${surface}, ${theme}: ${contrast.toFixed(2)}`)
      }
})
