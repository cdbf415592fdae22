// The documentation, which the service shows beside the console.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound } from '../support/axe.ts'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite } from '../support/console.ts'

describe('the documentation', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  async function openDocs(at: string, width = 1280): Promise<{ page: Page; complaints: string[] }> {
    const opened = await console.open('', { viewport: { width, height: 800 } })
    await opened.page.goto(`${console.url}/docs${at}`)
    return opened
  }

  test('[DOC-18] guides and the reference are accessible in both themes and on a phone', async () => {
    const { page, complaints } = await openDocs('/events')
    // All of the reference took 25 s, and its parts are alike.
    const shorten = `document.querySelectorAll('.op:not(#publishEvent):nth-of-type(n + 2)').forEach((one) => one.remove())`
    for (const at of ['/events', '/scaling', '#publishEvent']) {
      await page.goto(`${console.url}/docs${at}`)
      await page.evaluate(shorten)
      await assertSound(page, at)
    }
    assert.deepEqual(complaints, [])
  })

  test('[DOC-18] with the keyboard alone: the menu of a phone, and code that is wider than its place', async () => {
    const { page } = await openDocs('/events', 390)
    const menu = page.getByRole('navigation', { name: 'Pages' })
    assert.equal(await menu.isVisible(), false)
    await page.getByRole('checkbox', { name: 'Menu' }).focus()
    await page.keyboard.press('Space')
    await menu.waitFor()
    await page.getByRole('checkbox', { name: 'Menu' }).focus()
    await page.keyboard.press('Space')
    await menu.waitFor({ state: 'hidden' })
    const wide = `[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth)`
    const unreached = `${wide}.filter(({ tabIndex }) => tabIndex !== 0).length`
    assert.ok((await page.evaluate<number>(`${wide}.length`)) > 0)
    await page.waitForFunction(`${unreached} === 0`)
  })

  test('[DOC-20] tables fit a screen, and show on a phone that they go on beyond its edge', async () => {
    const { page } = await openDocs('')
    const guides = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.card')].map((card) => card.getAttribute('href'))`,
    )
    assert.ok(guides.length > 20)
    const wide = `[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)`
    for (const guide of guides) {
      await page.goto(console.url + guide)
      assert.deepEqual(await page.evaluate<string[]>(`${wide}.map((one) => one.textContent.slice(0, 80))`), [], guide)
    }
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(`${console.url}/docs/operations`)
    // The policy of the documentation allows no image that is made by a script.
    const blank = await page.context().newPage()
    const brightnessAtEdge = async (scrolled: string): Promise<number> => {
      const { x, y } = await page.evaluate<{ x: number; y: number }>(`(() => {
        const [one] = ${wide}
        one.scrollIntoView({ block: 'center' })
        one.scrollLeft = ${scrolled}
        const { right, top } = one.getBoundingClientRect()
        return { x: right - 2, y: Math.max(top, 100) + 1 }
      })()`)
      const png = (await page.screenshot({ clip: { x, y, width: 2, height: 2 } })).toString('base64')
      return await blank.evaluate<number>(`new Promise((done) => {
        const image = new Image()
        image.onload = () => {
          const canvas = document.createElement('canvas').getContext('2d')
          canvas.drawImage(image, 0, 0)
          done(canvas.getImageData(1, 1, 1, 1).data[0])
        }
        image.src = 'data:image/png;base64,${png}'
      })`)
    }
    assert.ok((await brightnessAtEdge('0')) < (await brightnessAtEdge('one.scrollWidth')) - 20)
  })

  test('[DOC-19] a guide lists its sections, and its code is copied as it is shown', async () => {
    const { page, complaints } = await openDocs('/events', 1400)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const sections = page.getByRole('complementary', { name: 'On this page' })
    const [first] = await sections.getByRole('link').all()
    await first!.click()
    const anchor = (await first!.getAttribute('href'))!
    assert.equal(await page.evaluate('location.hash'), anchor)
    await page.locator(`h2${anchor}`).waitFor()
    const code = page.locator('pre code').first()
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), await code.textContent())
    assert.deepEqual(complaints, [])
  })
})
