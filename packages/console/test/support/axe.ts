// axe, which checks the accessibility of a page.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string | null
  nodes: { html: string; failureSummary: string }[]
}

type Which = 'all' | 'colours' | 'all but colours'
/** These rules examine every piece of text on the page, and take most of the time. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block']
const RULES: Record<Which, object> = {
  all: {},
  colours: { runOnly: OF_COLOURS },
  'all but colours': { rules: Object.fromEntries(OF_COLOURS.map((rule) => [rule, { enabled: false }])) },
}

/** Returns serious and critical findings of axe, a line each. The policy blocks scripts, but not from the debugger. */
async function faults(page: Page, which: Which): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { result: loaded } = await session.send('Runtime.evaluate', { expression: 'typeof axe' })
  if (loaded.value === 'undefined') await session.send('Runtime.evaluate', { expression: axe })
  const options = { resultTypes: ['violations'], ...RULES[which] }
  const run = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations))`
  const { result } = await session.send('Runtime.evaluate', { expression: run, awaitPromise: true })
  return (JSON.parse(String(result.value)) as Violation[])
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'region')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

// The dark theme differs only in colours, and a phone has the same colours as a screen.
const LOOKS: readonly { colorScheme: 'light' | 'dark'; width: number; rules: Which | null }[] = [
  { colorScheme: 'light', width: 1280, rules: 'all' },
  { colorScheme: 'light', width: 768, rules: null },
  { colorScheme: 'light', width: 390, rules: 'all but colours' },
  { colorScheme: 'dark', width: 1280, rules: 'colours' },
]

/** Waits for transitions, because colours between two themes have no meaningful contrast. */
const SETTLED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  Promise.allSettled(document.getAnimations().filter((a) => a instanceof CSSTransition).map(({ finished }) => finished)))
  .then(() => null)`

/**
 * Waits until the page has the width and the theme that were asked for: a busy browser applies them some frames later.
 * The frame after that the page hears of it, and hides the columns that have no room.
 */
const arrived = (width: number, scheme: string): string => `new Promise((done) => {
  const look = () => innerWidth === ${width} && matchMedia('(prefers-color-scheme: ${scheme})').matches
    ? done(null) : requestAnimationFrame(look)
  look()
})`

/** On a busy machine colours may still arrive late. A real fault stays. */
const LOOKS_AGAIN = 5

/** Returns what is too wide or cut away, a line each. A heading that is cut has nothing below it that could be read. */
const CUT_AWAY = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ['the page is ' + document.documentElement.scrollWidth + ' px wide'] : []),
  ...Array.from(document.querySelectorAll('[role=columnheader]'))
    .filter((head) => head.scrollWidth > head.clientWidth).map((head) => 'cut: ' + head.textContent),
]`

async function lookAt(page: Page, rules: Which | null): Promise<string[]> {
  await page.evaluate(SETTLED)
  return [...(rules === null ? [] : await faults(page, rules)), ...(await page.evaluate<string[]>(CUT_AWAY))]
}

/** Asserts that nothing is serious, too wide or cut away, in both themes, on a screen, a tablet and a phone. */
export async function assertSound(page: Page, at: string): Promise<void> {
  for (const { colorScheme, width, rules } of LOOKS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    await page.evaluate(arrived(width, colorScheme))
    let found = await lookAt(page, rules)
    for (let again = 0; found.length > 0 && again < LOOKS_AGAIN; again++) found = await lookAt(page, rules)
    assert.deepEqual(found, [], `${at}, ${colorScheme}, ${width} px`)
  }
}
