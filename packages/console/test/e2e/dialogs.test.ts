// Dialogs, drawers and the command palette: how they are closed, and what is not lost by it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { createClient } from '@sensorium/client'
import { noBrowser } from '../support/chromium.ts'
import { OPERATOR_TOKEN, consoleForSuite, goTo, type OpenPage } from '../support/console.ts'

/** Presses the pointer on one point and releases it on another, as when text is selected. */
async function drag(page: Page, from: Locator | null, to: Locator | null): Promise<void> {
  const beside = { x: 4, y: 4 }
  const middleOf = async (what: Locator) => {
    const { x, y, width, height } = (await what.boundingBox())!
    return { x: x + width / 2, y: y + height / 2 }
  }
  const [start, end] = [from ? await middleOf(from) : beside, to ? await middleOf(to) : beside]
  await page.mouse.move(start.x, start.y)
  await page.mouse.down()
  await page.mouse.move(end.x, end.y)
  await page.mouse.up()
}

/**
 * Holds back whatever the page posts to make something, until it is released. `asked` resolves when it was sent and the
 * dialog shows that: the request may be here before the page is drawn again.
 */
async function holdPosts(page: Page): Promise<{ asked(): Promise<void>; release(): void }> {
  const released = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const enabled = page.locator('dialog[open] button:enabled:not([aria-disabled="true"])').first()
  await page.route(/\/(keys|rotate|push-secret|webhooks|tenants|admin-keys)$/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    asked.resolve()
    await released.promise
    return route.continue()
  })
  return { asked: () => asked.promise.then(() => enabled.waitFor({ state: 'detached' })), release: released.resolve }
}

/** Goes back in the history, and waits until the console has returned to the entry that it was on. */
async function goBackInVain(page: Page): Promise<void> {
  await page.evaluate(`new Promise((returned, failed) => {
    const { key } = history.state
    let wasLeft = false
    addEventListener('popstate', function step() {
      wasLeft ||= history.state.key !== key
      if (!wasLeft || history.state.key !== key) return
      removeEventListener('popstate', step)
      returned()
    })
    setTimeout(() => failed(new Error('Back was not undone')), 60_000)
    history.back()
  })`)
}

describe('dialogs', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-40] a selection that begins or ends beside a dialog does not close it, and a click there does', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('button', { name: 'Register' }).click()
    const form = page.getByRole('dialog', { name: 'Register an agent' })
    const name = form.getByLabel('Name')
    await name.fill('Night shift')
    await drag(page, name, null)
    await drag(page, null, name)
    assert.equal(await name.inputValue(), 'Night shift')
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Register' }).click()
    await drag(page, null, null)
    await form.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    const typed = page.getByRole('combobox')
    await typed.fill('tri')
    await drag(page, typed, null)
    assert.equal(await typed.inputValue(), 'tri')
    await drag(page, null, null)
    await typed.waitFor({ state: 'detached' })
  })

  test('[UI-40] a form in which something was typed is closed by its buttons alone', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('button', { name: 'Register' }).click()
    const form = page.getByRole('dialog', { name: 'Register an agent' })
    await form.getByLabel('Name').fill('Night shift')
    for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
    await drag(page, null, null)
    assert.equal(await form.getByLabel('Name').inputValue(), 'Night shift')
    await form.getByRole('button', { name: 'Close' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Register' }).click()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
  })

  test('[UI-40] a secret that is shown once is closed by its buttons alone', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.sensor.id}`)
    await page.getByRole('button', { name: 'Mint' }).click()
    await page.getByRole('button', { name: 'Mint the key' }).click()
    const secret = page.locator('dialog[open] .secret code')
    const key = await secret.innerText()
    await drag(page, secret, null)
    await drag(page, null, null)
    // The browser lets a page refuse the first Escape, and not the second.
    for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
    // The palette would lead to another page. It is a dialog itself, and its key closes it where nothing else is open.
    await page.keyboard.press('Control+k')
    assert.equal(await page.getByRole('combobox', { name: /^Search pages/ }).count(), 0)
    // Nor does it open in the moment between that second Escape and the dialog's return.
    await page.evaluate(`document.querySelector('dialog').close()
      dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))`)
    await secret.waitFor()
    assert.equal(await page.getByRole('combobox', { name: /^Search pages/ }).count(), 0)
    assert.equal(await secret.innerText(), key)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Search pages/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
  })

  test('[UI-64] while a secret is on its way, nothing closes the dialog that will show it', async () => {
    const operator = createClient({ url: console.url, token: OPERATOR_TOKEN })
    const body = { tenant: console.slug, source: 'held' }
    const { id } = (await operator.call('createWebhook', { body })).webhook
    const { sensor, dispatch } = console.plant.agents
    const asAdmin = (at: string) => console.signIn(console.adminKey, at)
    const press = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true }).click()
    type Way = [opened: Promise<OpenPage>, makeIt: (page: Page, dialog: Locator) => Promise<void>]
    const ways: (() => Way)[] = [
      () => [
        asAdmin(`/agents/${sensor.id}`),
        async (page, dialog) => {
          await press(page, 'Mint')
          await press(dialog, 'Mint the key')
        },
      ],
      () => [asAdmin(`/agents/${dispatch.id}`), (page) => press(page, 'New secret')],
      () => [console.signInAsOperator(`/tenants/${console.slug}`), (page) => press(page, 'Make one')],
      () => [
        console.signInAsOperator('/tenants?new=tenant'),
        async (_page, dialog) => {
          await dialog.getByLabel('Slug').fill('held')
          await press(dialog, 'Create')
        },
      ],
      () => [
        console.signInAsOperator(`/ingestion?open=${id}`),
        async (_page, dialog) => {
          await press(dialog, 'New secret')
          await press(dialog, 'Make a new one')
        },
      ],
      () => [
        console.signInAsOperator(`/ingestion?tenant=${console.slug}&new=webhook`),
        async (_page, dialog) => {
          await dialog.getByLabel('Source').fill('held_too')
          await press(dialog, 'Add the webhook')
        },
      ],
    ]
    for (const way of ways) {
      const [opened, makeIt] = way()
      const { page, complaints } = await opened
      const dialog = page.getByRole('dialog')
      const held = await holdPosts(page)
      await makeIt(page, dialog)
      await held.asked()
      for (const button of await dialog.getByRole('button').all()) assert.equal(await button.isDisabled(), true)
      for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
      await drag(page, null, null)
      assert.equal(await dialog.count(), 1, page.url())
      held.release()
      await dialog.locator('.secret').getByRole('button').and(page.locator(':focus')).waitFor()
      await press(dialog, 'I have copied it')
      await page.locator('.secret').waitFor({ state: 'detached' })
      assert.deepEqual(complaints, [])
      await console.closePages()
    }
  })

  test('[UI-41] a new key is shown before the list of keys is here, and is in the list then', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    const held = Promise.withResolvers<void>()
    await page.route('**/v1/agents/*/keys*', async (route) => {
      if (route.request().method() !== 'GET') return route.continue()
      const response = await route.fetch()
      await held.promise
      // The first list is older than the key. Nobody may be waiting for it any more.
      await route.fulfill({ response }).catch(() => undefined)
    })
    const listed = () => page.waitForRequest((request) => request.method() === 'GET' && request.url().includes('/keys'))
    const first = listed()
    await goTo(page, `/agents/${console.plant.agents.sensor.id}`)
    await first
    await page.getByRole('button', { name: 'Mint' }).click()
    const again = listed()
    await page.getByRole('button', { name: 'Mint the key' }).click()
    await again
    const key = await page.locator('.secret code').innerText()
    held.resolve()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('button', { name: `Revoke the key ${key.slice(0, 12)}` }).waitFor()
    await page.unrouteAll()
  })

  test('[UI-40] what opened a dialog has the focus again when it is closed', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.triage.id}`)
    // A dialog with a field, one with buttons alone, and the palette.
    const openers = ['Mint', 'Deactivate', /^Find or do/]
    for (const name of openers) {
      const opener = page.getByRole('button', { name })
      await opener.focus()
      await page.keyboard.press('Enter')
      await page.locator('dialog[open] :focus').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal(await opener.evaluate((element) => element.matches(':focus')), true, String(name))
    }
  })

  test('[UI-40] Back closes no dialog that only its buttons close, and goes on once it is closed', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('row', { name: /Sensor gateway/ }).click()
    await page.getByRole('button', { name: 'Mint' }).click()
    const held = await holdPosts(page)
    await page.getByRole('button', { name: 'Mint the key' }).click()
    await held.asked()
    await goBackInVain(page)
    held.release()
    const secret = page.locator('dialog[open] .secret code')
    const key = await secret.innerText()
    for (let times = 0; times < 2; times++) await goBackInVain(page)
    assert.equal(await secret.innerText(), key)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.goBack()
    // A form whose address is an entry of its own: its own button goes back to the one before.
    await page.getByRole('button', { name: 'Register' }).click()
    const form = page.getByRole('dialog', { name: 'Register an agent' })
    await form.getByLabel('Name').fill('Night shift')
    await goBackInVain(page)
    assert.equal(await form.getByLabel('Name').inputValue(), 'Night shift')
    // A reload would lose it too, so the browser asks.
    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    const question = await asked
    assert.equal(question.type(), 'beforeunload')
    await question.dismiss()
    assert.equal(await form.getByLabel('Name').inputValue(), 'Night shift')
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'detached' })
    assert.match(page.url(), /\/agents$/)
    assert.deepEqual(complaints, [])
  })

  test('[UI-60] Back closes a dialog that is not in the address, and the page stays', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('row', { name: /Triage/ }).click()
    await page.getByRole('button', { name: 'Mint' }).click()
    const form = page.getByRole('dialog', { name: 'A key for Triage' })
    await form.waitFor()
    await goBackInVain(page)
    await form.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Triage' }).waitFor()
    await page.goBack()
    await page.getByRole('row', { name: /Triage/ }).waitFor()
  })

  test('[UI-60] Back closes a drawer, and one that was closed by Escape is not gone back to', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('link', { name: 'Audit' }).click()
    const drawer = page.getByRole('dialog', { name: 'Mint key' })
    await page
      .getByRole('row', { name: /Mint key/ })
      .first()
      .click()
    await drawer.waitFor()
    await page.goBack()
    await drawer.waitFor({ state: 'detached' })
    assert.match(page.url(), /\/audit$/)
    await page.goForward()
    await drawer.waitFor()
    // The second one comes while the page is on its way back.
    await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Escape')])
    await drawer.waitFor({ state: 'detached' })
    assert.match(page.url(), /\/audit$/)
    await page.goBack()
    await page.getByRole('button', { name: 'Register' }).click()
    await page.getByLabel('Name').fill('Newcomer')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Newcomer' }).waitFor()
    await page.goBack()
    await page.getByRole('row', { name: /Newcomer/ }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
  })
})
