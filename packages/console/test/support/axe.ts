// axe, which looks at a page as somebody who does not see it would use it.
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

/** What axe finds that is serious or worse, a line for each place. The policy lets no script in, but the debugger may. */
async function faults(page: Page, rules: readonly string[] | null): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { result: loaded } = await session.send('Runtime.evaluate', { expression: 'typeof axe' })
  if (loaded.value === 'undefined') await session.send('Runtime.evaluate', { expression: axe })
  const options = { resultTypes: ['violations'], ...(rules === null ? {} : { runOnly: rules }) }
  const run = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations))`
  const { result } = await session.send('Runtime.evaluate', { expression: run, awaitPromise: true })
  return (JSON.parse(String(result.value)) as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width, name: `${colorScheme}, ${width} px` })),
)

const OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** Colours that are on their way from one theme to the other have no contrast that counts. */
const SETTLED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  Promise.allSettled(document.getAnimations().filter((a) => a instanceof CSSTransition).map(({ finished }) => finished)))
  .then(() => null)`

/** Nothing serious and nothing too wide, in both themes, on a screen and on a phone. */
export async function assertSound(page: Page, at: string): Promise<void> {
  for (const { colorScheme, width, name } of LOOKS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    await page.evaluate(SETTLED)
    // The dark theme is the same page in other colours, and a phone has no others.
    const rules = colorScheme === 'dark' ? (width === 390 ? [] : OF_COLOURS) : null
    if (rules?.length !== 0) assert.deepEqual(await faults(page, rules), [], `${at}, ${name}`)
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(overflow <= 0, `${at} is ${overflow} px too wide: ${name}`)
  }
}
