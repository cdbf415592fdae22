// What the console shows when a request fails, and of what is gone.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Route } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { consoleWithMemories, goTo } from '../support/console.ts'

describe('failures', { skip: noBrowser }, () => {
  const console = consoleWithMemories()

  /** Responds as the service does when it refuses, without a retry by the client. */
  const refuse = (route: Route): Promise<void> =>
    route.fulfill({
      status: 403,
      json: { error: { code: 'forbidden', message: 'Not today', request_id: 'req_today' } },
    })

  test('[UI-45] a memory that was forgotten is not shown again by going back', async () => {
    const { id } = await console.plant.admin.memory.remember({
      type: 'semantic',
      scope: 'institutional',
      title: 'The gate sticks',
      content: 'In winter.',
    })
    const { page } = await console.signIn(console.adminKey, `/memory/${id}`)
    await page.getByRole('button', { name: 'Forget' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await page.getByText('Forgotten: The gate sticks').waitFor()
    await page.getByRole('row', { name: /Pump/ }).first().waitFor()
    await page.goBack()
    await page.getByText('There is no such memory').waitFor()
    assert.equal(await page.getByRole('heading', { name: 'The gate sticks' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Forget' }).count(), 0)
  })

  test('[UI-45] a memory is no longer shown once it has expired', async () => {
    const { memory } = console.plant.admin
    const expires_at = new Date(Date.now() + 600_000).toISOString()
    const { id } = await memory.remember({ title: 'The gate is open', content: 'Until noon.', expires_at })
    // With options, because a clock is that of all pages which share their storage.
    const { page } = await console.signIn(console.adminKey, '/memory', {})
    await page.clock.install()
    await goTo(page, `/memory/${id}`)
    const heading = page.getByRole('heading', { name: 'The gate is open' })
    await heading.waitFor()
    // The clock of the service cannot be moved. It says the same of a memory that was forgotten.
    await memory.forget(id)
    let requests = 0
    page.on('request', (request) => {
      if (request.url().endsWith(id)) requests++
    })
    await page.clock.fastForward(300_000)
    await page.evaluate(`fetch('/healthz')`)
    assert.deepEqual([requests, await heading.count()], [0, 1], 'it is not asked for before')
    await page.clock.fastForward(301_000)
    await page.getByText('There is no such memory').first().waitFor()
    assert.equal(await heading.count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Forget' }).count(), 0)
  })

  test('[UI-45] a form stays with what was typed while its memory expires, and shows the refusal', async () => {
    const { memory } = console.plant.admin
    const expires_at = new Date(Date.now() + 600_000).toISOString()
    const { id } = await memory.remember({ title: 'The valve is shut', content: 'Until noon.', expires_at })
    const { page } = await console.signIn(console.adminKey, '/memory', {})
    await page.clock.install()
    await goTo(page, `/memory/${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit the memory' })
    await form.getByLabel('Title').fill('The valve is open')
    await memory.forget(id)
    await page.clock.fastForward(601_000)
    // As when the tab is returned to, where somebody looked something up.
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
    await page.evaluate(`fetch('/healthz')`)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').filter({ hasText: 'There is no such memory' }).waitFor()
    assert.equal(await form.getByLabel('Title').inputValue(), 'The valve is open')
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'The valve is shut' }).waitFor({ state: 'detached' })
    await page.getByText('There is no such memory').first().waitFor()
  })

  test('[UI-45] a channel that was deleted is not shown again by going back', async () => {
    const { id } = await console.plant.admin.channels.create({ name: 'Short lived', type: 'open' })
    const { page } = await console.signIn(console.adminKey, `/channels/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Short lived is deleted').waitFor()
    await page.getByRole('row', { name: /Incidents/ }).waitFor()
    await page.goBack()
    await page.getByText('There is no such channel').waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Short lived' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Post an event' }).count(), 0)
  })

  test('[UI-45] what others have deleted is no longer shown once the service has said so', async () => {
    const { admin } = console.plant
    const { id } = await admin.channels.create({ name: 'Somebody’s', type: 'open' })
    const { page } = await console.signIn(console.adminKey, `/channels/${id}`)
    await page.getByRole('heading', { name: 'Somebody’s' }).waitFor()
    await page.getByRole('link', { name: 'Back to channels' }).click()
    await page.getByRole('row', { name: /Somebody’s/ }).waitFor()
    // A response counts as fresh for two seconds; after that it is fetched again when its page is opened.
    await page.clock.setFixedTime(Date.now() + 5_000)
    await admin.channels.delete(id)
    await page.goBack()
    // Its panels may hear of it before the page does.
    await page.getByText('There is no such channel').first().waitFor()
    await page.getByRole('heading', { name: 'Somebody’s' }).waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('button', { name: 'Delete', exact: true }).count(), 0)
  })

  test('[UI-45] a refresh that is refused is reported above the numbers that stay, until one succeeds', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.triage.id}`)
    const waiting = page.locator('.stat', { hasText: 'to be handed out' }).locator('.figure')
    await waiting.waitFor()
    await page.route(/\/queue$/, refuse)
    const alert = page.getByRole('alert').filter({ hasText: 'Not today' })
    await alert.getByText('req_today').waitFor()
    await waiting.waitFor()
    await page.unroute(/\/queue$/)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await alert.waitFor({ state: 'detached' })
  })

  test('[UI-45] a refresh of a list that is refused is reported above the rows that stay', async () => {
    const { page } = await console.signIn(console.adminKey, '/audit')
    const row = page.getByRole('row', { name: /Mint key/ }).first()
    await row.waitFor()
    await page.route(/\/v1\/audit/, refuse)
    const alert = page.getByRole('alert').filter({ hasText: 'Not today' })
    await alert.waitFor()
    await row.waitFor()
    await page.unroute(/\/v1\/audit/)
    await alert.waitFor({ state: 'detached' })
  })

  test('[UI-46] no event is shown as traffic of a channel before its feeds are known', async () => {
    const { page } = await console.signIn(console.adminKey, '/events')
    await page.getByText('live', { exact: true }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/elsewhere' })
    await page.getByRole('row', { name: /pump\/elsewhere/ }).waitFor()
    const held = Promise.withResolvers<Route>()
    await page.route(/\/feeds$/, held.resolve, { times: 1 })
    // As a link does: the stream of the tab goes on, with the events of the tenant that it holds.
    const at = `/console/channels/${console.plant.channels.incidents.id}`
    await page.evaluate<void>(`history.pushState(null, '', ${JSON.stringify(at)})`)
    const traffic = page.getByRole('region', { name: /Traffic/ })
    const request = await held.promise
    await traffic.waitFor()
    assert.equal(await traffic.getByRole('row', { name: /pump/ }).count(), 0)
    assert.equal((await traffic.getByRole('heading').innerText()).trim(), 'Traffic since you opened this page')
    await refuse(request)
    await traffic.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
    await traffic.getByRole('button', { name: 'Try again' }).click()
    await traffic.getByText('Nothing yet').waitFor()
  })

  test('[UI-48] the palette shows an error instead of claiming that nothing has the name', async () => {
    const { page } = await console.signIn(console.adminKey, '/audit')
    await page
      .getByRole('row', { name: /Mint key/ })
      .first()
      .waitFor()
    await page.route(/\/v1\/(agents|channels|events|memories)\?/, refuse)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Search pages/ }).fill('nobody has it')
    const palette = page.getByRole('dialog', { name: 'Command palette' })
    await palette.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
    assert.equal(await palette.getByText('Nothing has that in its name.').count(), 0)
    await page.unroute(/\/v1\/(agents|channels|events|memories)\?/)
    await page.getByRole('combobox', { name: /^Search pages/ }).fill('nobody has this')
    await palette.getByText('Nothing has that in its name.').waitFor()
    assert.equal(await palette.getByRole('alert').count(), 0)
  })

  test('[UI-48] the palette shows things of one name, and none of them when another name is typed', async () => {
    const { admin } = console.plant
    for (let twin = 0; twin < 3; twin++)
      await admin.agents.register({ name: 'Twin', delivery_mode: 'poll', client_type: 'other' })
    const { page } = await console.signIn(console.adminKey, '/audit')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Search pages/ }).fill('twin')
    const options = page.getByRole('dialog').getByRole('option')
    await options.filter({ hasText: 'Twin' }).nth(2).waitFor()
    await page.getByRole('combobox', { name: /^Search pages/ }).fill('triage')
    await options.filter({ hasText: 'Triage' }).first().waitFor()
    assert.equal(await options.filter({ hasText: 'Twin' }).count(), 0)
  })

  test('[UI-48] what the page does by itself does not end the banner of a service that is away', async () => {
    const { page } = await console.signIn(console.adminKey, `/channels/${console.plant.channels.incidents.id}`)
    // The first message of the stream ends the banner: the service has answered.
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Add a feed' }).click()
    const form = page.getByRole('dialog', { name: 'Add a feed' })
    await form.getByLabel('Filter').fill('data.litres > 3')
    await page.route(/\/v1\//, (route) => route.abort())
    await form.getByLabel('Event type').fill('com.plant.leak')
    await form.getByRole('button', { name: 'Add the feed' }).click()
    const banner = page.locator('.banner')
    await banner.waitFor()
    await form.getByLabel('Filter').fill('data.litres >> 3')
    await form.getByRole('alert').filter({ hasText: 'line 1, column 14' }).waitFor()
    assert.equal(await banner.count(), 1)
    await form.getByRole('button', { name: 'Cancel' }).click()
    await form.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Search pages/ }).fill('triage')
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'does not answer' }).waitFor()
    assert.equal(await banner.count(), 1)
    await page.unroute(/\/v1\//)
  })
})
