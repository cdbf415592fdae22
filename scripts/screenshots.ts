// `node_modules/.bin/node scripts/screenshots.ts <folder> [name …]`: takes every view of the console in both themes, at
// 1280, 768 and 390 pixels, with the example plant of the console's tests. A few of them are in docs/images.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { startConsole } from '../packages/console/test/support/console.ts'
import { everyView } from '../packages/console/test/support/views.ts'

const [folder = 'screenshots', ...names] = process.argv.slice(2)
const SIZES = [
  { width: 1280, height: 800 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
]
/** Seconds of traffic, so that charts have something to show. */
const TRAFFIC_S = 25

mkdirSync(folder, { recursive: true })
const console = await startConsole()
try {
  const views = everyView(console.plant).filter(({ name }) => names.length === 0 || names.includes(name))
  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of SIZES) {
      const shot = (name: string): string => path.join(folder, `${name}-${colorScheme}-${viewport.width}.png`)
      const out = await console.open('', { colorScheme, viewport })
      await out.page.getByLabel('API key').waitFor()
      if (names.length === 0) await out.page.screenshot({ path: shot('sign-in') })
      await out.page.context().close()
      const pages = []
      for (const view of views) {
        const { page } = await console.signIn(console.adminKey, view.at, { colorScheme, viewport })
        await view.ready(page)
        pages.push({ page, name: view.name })
      }
      for (let second = 0; second < TRAFFIC_S; second++) {
        const busy = 2 + Math.round(3 * (1 + Math.sin(second / 3)))
        for (let i = 0; i < busy; i++) await console.plant.publish(i, 62 + ((second * 11 + i * 17) % 44))
        if (second % 3 === 2) await console.plant.work()
        await new Promise((resolve) => setTimeout(resolve, 900))
      }
      for (const { page, name } of pages) {
        await page.screenshot({ path: shot(name) })
        await page.context().close()
      }
    }
} finally {
  await console.stop()
}
