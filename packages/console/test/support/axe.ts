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

/** On a busy machine colours may still arrive late. A real fault stays. */
const LOOKS_AGAIN = 5

async function lastingFaults(page: Page, which: Which): Promise<string[]> {
  let found = await faults(page, which)
  for (let again = 0; found.length > 0 && again < LOOKS_AGAIN; again++) {
    await page.evaluate(SETTLED)
    found = await faults(page, which)
  }
  return found
}

/** The headings of tables whose column is too narrow for them: nobody could read what is below them either. */
const CUT_HEADINGS = `Array.from(document.querySelectorAll('[role=columnheader]'))
  .filter((head) => head.scrollWidth > head.clientWidth).map((head) => head.textContent)`

/** Asserts that nothing is serious, too wide or cut away, in both themes, on a screen, a tablet and a phone. */
export async function assertSound(page: Page, at: string): Promise<void> {
  for (const { colorScheme, width, rules } of LOOKS) {
    const where = `${at}, ${colorScheme}, ${width} px`
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    await page.evaluate(SETTLED)
    if (rules !== null) assert.deepEqual(await lastingFaults(page, rules), [], where)
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(overflow <= 0, `${where}: ${overflow} px too wide`)
    assert.deepEqual(await page.evaluate(CUT_HEADINGS), [], where)
  }
}
