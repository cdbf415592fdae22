// What every page has: shortcuts, palette, themes, reconnection to a restarted service, and accessibility.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertSound } from '../support/axe.ts'
import { noBrowser } from '../support/chromium.ts'
import { consoleWithMemories, goAfresh, pressPair } from '../support/console.ts'
import { everyView } from '../support/views.ts'

describe('the shell', { skip: noBrowser }, () => {
  const console = consoleWithMemories()

  test('[UI-14] [UI-73] with the keyboard alone: sign in, find an agent in the palette, open and close it', async () => {
    const { page, complaints } = await console.open()
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(console.adminKey)
    await page.keyboard.press('Enter')
    await page.locator('.shell').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('no such thing')
    await page.getByRole('dialog').getByRole('status').getByText('Nothing has that in its name.').waitFor()
    await page.locator('.palette input').fill('triage')
    await page.getByRole('option', { name: 'Triage Agent' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'Triage' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await pressPair(page, 'g', 'a')
    await page.getByRole('row', { name: /Dispatcher/ }).waitFor()
    await page.locator('h1:focus', { hasText: 'Agents' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('disp')
    await page.getByRole('status').getByText('1 of 4 agents').waitFor()
    // From the filter to the row with Tab, and into it with Enter.
    const isRow = () => page.evaluate<boolean>('document.activeElement?.getAttribute("role") === "row"')
    for (let i = 0; i < 10 && !(await isRow()); i++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Dispatcher' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('[UI-14] keys lead to the first row, and the palette to the title of a page and to its form', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/dead-letters')
    const theme = page.getByRole('button', { name: 'Theme: system' })
    const choose = async (typed: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.locator('.palette input').fill(typed)
      await page.keyboard.press('Enter')
    }
    for (const key of ['j', 'k', 'ArrowDown']) {
      await theme.focus()
      await page
        .getByRole('row', { name: /no rule for/ })
        .first()
        .waitFor()
      await page.keyboard.press(key)
      await page.locator('[role=row][data-index="0"]:focus').waitFor()
    }
    const rows = Number(await page.getByRole('table').getAttribute('aria-rowcount')) - 1
    for (const [key, row] of [
      ['PageDown', rows - 1],
      ['PageUp', 0],
    ] as const) {
      await page.locator('[role=row][data-index="1"]').focus()
      await page.keyboard.press(key)
      await page.locator(`[role=row][data-index="${row}"]:focus`).waitFor({ timeout: 10_000 })
    }
    // Also if the page is shown already, and if the focus was beside it.
    for (const title of ['Dead letters', 'Channels']) {
      await theme.focus()
      await choose(`go to ${title}`)
      await page.locator('h1:focus', { hasText: title }).waitFor()
    }
    await page.getByLabel('Filter channels').fill('inc')
    await choose('create a channel')
    await page.getByRole('dialog', { name: 'Create a channel' }).waitFor()
    assert.match(page.url(), /search=inc&new=channel$/)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    for (const title of ['Publish an event', 'Remember something', 'Register an agent']) {
      await choose(title)
      await page.getByRole('dialog', { name: title }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.locator('h1:focus').waitFor()
    }
    // A page that scrolls as a whole needs the arrow for that.
    await choose('go to overview')
    await page.getByRole('row', { name: /Triage/ }).waitFor()
    await page.locator('h1:focus', { hasText: 'Overview' }).waitFor()
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.locator('h1:focus').count(), 1)
    assert.deepEqual(complaints, [])
  })

  test('[UI-14] the menu of a phone keeps the keyboard inside, and Escape closes it', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    await page.setViewportSize({ width: 390, height: 800 })
    const menu = page.getByRole('button', { name: 'Menu', exact: true })
    await menu.click()
    await page.getByRole('link', { name: 'Channels' }).waitFor()
    for (let times = 0; times < 20; times++) {
      await page.keyboard.press('Tab')
      assert.equal(await page.locator('main :focus').count(), 0)
    }
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Channels' }).waitFor({ state: 'hidden' })
    assert.equal(await menu.evaluate((element) => element.matches(':focus')), true)
  })

  test('[UI-15] the theme is light, dark or the system’s, chosen once and kept', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents', { colorScheme: 'dark' })
    const paper = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const dark = await paper()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    // A change of colour takes a frame.
    let light = dark
    while (light === dark) light = await paper()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    assert.equal(await paper(), light)
  })

  test('[UI-15] with forced colours, what is chosen is marked by more than a colour that the browser replaces', async () => {
    const { page } = await console.signIn(console.adminKey, '/dead-letters', { forcedColors: 'active' })
    const look = (selector: string): Promise<string> =>
      page.evaluate<string>(
        `(({ forcedColorAdjust, borderTopWidth }) => forcedColorAdjust + borderTopWidth)(getComputedStyle(document.querySelector('${selector}')))`,
      )
    await page.getByRole('region', { name: 'By cause' }).getByRole('button').first().click()
    await page.keyboard.press('Control+k')
    await page.locator('.palette [role=option]').first().waitFor()
    for (const [chosen, other] of [
      ['[role=option][aria-selected=true]', '[role=option][aria-selected=false]'],
      ['.segments > [aria-pressed=true]', '.segments > [aria-pressed=false]'],
      ['.side nav a[data-status=active]', '.side nav a:not([data-status])'],
      ['.dead-summary li > [aria-pressed=true]', '.dead-summary li > [aria-pressed=false]'],
    ] as const)
      assert.notEqual(await look(chosen), await look(other), chosen)
  })

  test('[UI-16] a restart of the service is shown and survived, with the page intact', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.triage.id}`)
    const waiting = page.locator('.stat', { hasText: 'to be handed out' }).locator('.figure')
    const before = await waiting.innerText()
    await console.restart(async () => {
      await page.locator('.banner', { hasText: 'does not answer' }).waitFor()
      assert.equal(await waiting.innerText(), before)
    })
    // On a busy machine a part of the page may have been asked for too late, and has an alert of its own until it is
    // here.
    await page.getByRole('alert').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await waiting.filter({ hasText: String(Number(before) + 1) }).waitFor()
  })

  test('[UI-17] an unknown address is reported as such, and an error shows its request id', async () => {
    const { page } = await console.signIn(console.adminKey, '/no/such/page')
    await page.getByText('There is no such page').waitFor()
    await page.getByRole('link', { name: 'Sensorium' }).click()
    const other = await console.signIn(console.adminKey, '/agents/agt_01hv3k8z9q4m7t2x5c6w8r0s1d')
    await other.page.getByText('There is no such agent').waitFor()
    await other.page.getByText(/^req_/).waitFor()
  })

  test('[UI-18] axe finds nothing serious on any page, and none is wider than its window', async () => {
    const out = await console.open()
    await out.page.getByLabel('API key').waitFor()
    await assertSound(out.page, 'signing in')
    const { page, complaints } = await console.signIn(console.adminKey)
    for (const { at, ready } of everyView(console.plant)) {
      await goAfresh(page, at)
      await ready(page)
      await assertSound(page, at)
      assert.deepEqual(complaints, [], at)
    }
  })
})
