// axe, which looks at a page as somebody who does not see it would use it.
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
export async function faults(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  const run = 'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => JSON.stringify(violations))'
  const { result } = await session.send('Runtime.evaluate', { expression: run, awaitPromise: true })
  return (JSON.parse(String(result.value)) as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}
