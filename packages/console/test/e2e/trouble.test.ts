// What a user sees of a network, a service or a key that fails.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite, goTo } from '../support/console.ts'

describe('trouble', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-42] without a network an action fails at once, and is not carried out later', async () => {
    const { id } = console.plant.agents.triage
    const { page } = await console.signIn(console.adminKey, `/agents/${id}`, {})
    const send = page.getByRole('button', { name: 'Send a test event' })
    await send.waitFor()
    const { pending } = await console.plant.admin.agents.queue(id)
    const banner = page.locator('.banner')
    await page.context().setOffline(true)
    await send.click()
    await page.locator('.toast.bad').waitFor()
    await banner.waitFor()
    await page.context().setOffline(false)
    await banner.waitFor({ state: 'detached' })
    // A later action is carried out, and it alone.
    await send.click()
    await page.getByText(/^Sent .* to Triage$/).waitFor()
    assert.equal((await console.plant.admin.agents.queue(id)).pending, pending + 1)
  })

  test('[UI-43] a refusal of the key that an interest is made with is shown in its form', async () => {
    const { id } = console.plant.agents.triage
    const { page } = await console.signIn(console.adminKey, `/agents/${id}`)
    const before = await console.plant.admin.keys.list(id)
    await page.getByRole('button', { name: 'Add' }).click()
    const form = page.getByRole('dialog', { name: 'Add an interest' })
    await form.getByLabel('Event type').fill('com.plant.late')
    const refusal = { error: { code: 'unauthorized', message: 'The key is unknown', details: {}, request_id: 'req_1' } }
    await page.route('**/v1/auth/token', (route) => route.fulfill({ status: 401, json: refusal }))
    await form.getByRole('button', { name: 'Add the interest' }).click()
    await form.getByRole('alert').filter({ hasText: 'was refused: The key is unknown' }).waitFor()
    assert.equal(await form.getByLabel('Event type').inputValue(), 'com.plant.late')
    await page.unrouteAll()
    assert.deepEqual(await console.plant.admin.keys.list(id), before, 'the key is revoked')
  })

  test('[UI-42] a service that asks to wait for a minute is asked once, and that is shown', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.triage.id}`)
    const message = 'More than 600 requests in 60 seconds; try again in 60 s'
    const error = { code: 'rate_limited', message, details: { retry_after_seconds: 60 }, request_id: 'req_1' }
    let asked = 0
    await page.route('**/test-event', async (route) => {
      asked++
      await route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json: { error } })
    })
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.locator('.toast.bad', { hasText: 'try again in 60 s' }).waitFor()
    assert.equal(asked, 1)
    await page.unrouteAll()
  })

  test('[UI-16] a stream that cannot be opened shows that the service does not answer, until it is open', async () => {
    const { page } = await console.open('/events')
    await page.route('**/v1/live*', (route) => route.abort())
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.locator('.banner').waitFor()
    await page.unrouteAll()
    await page.getByText('live', { exact: true }).waitFor()
    assert.equal(await page.locator('.banner').count(), 0)
  })

  test('[UI-16] the banner goes when the service answers again, on a page that asks nothing on its own', async () => {
    const { id } = await console.plant.admin.memory.remember({
      type: 'semantic',
      scope: 'institutional',
      title: 'The valve is stiff',
      content: 'After rain.',
    })
    const { page } = await console.signIn(console.adminKey, `/memory/${id}`)
    await page.getByRole('button', { name: 'Forget' }).click()
    await page.route('**/v1/**', (route) => route.abort())
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await page.locator('.banner').waitFor()
    await page.unrouteAll()
    await page.locator('.banner').waitFor({ state: 'detached' })
  })

  test('[UI-16] what failed meanwhile is asked again, whichever request was the first to be answered', async () => {
    const { page } = await console.signIn(console.adminKey, '/channels')
    let asked = 0
    await page.route('**/keys*', (route) => {
      asked++
      return route.abort()
    })
    await goTo(page, `/agents/${console.plant.agents.triage.id}`)
    await page.locator('main').getByRole('alert').waitFor()
    // Beside a part that polls and is answered, one that never gets through is not asked all the time.
    const [before, began] = [asked, performance.now()]
    for (let polls = 0; polls < 3; polls++) await page.waitForResponse('**/queue')
    const rounds = 1 + (performance.now() - began) / 10_000
    assert.ok(asked - before <= Math.ceil(rounds) * before, `${asked - before} requests in ${rounds} rounds`)
    await page.route('**/v1/**', (route) => route.abort())
    await page.locator('.banner').waitFor()
    await page.unrouteAll()
    // The request of the banner itself.
    await page.route('**/v1/agents?limit=1', (route) => route.abort())
    await page.getByRole('alert').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Revoke the key/ }).waitFor()
  })

  test('[UI-62] a chart that could not be loaded says so in its place and is loaded at a later attempt', async () => {
    // In a context of its own, whose cache does not have the chart yet.
    const { id } = console.plant.agents.triage
    const { page } = await console.open(`/agents/${id}`, {})
    await page.route('**/chart-canvas-*', (route) => route.abort())
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    const failure = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
    await failure.waitFor()
    await page.locator('h1', { hasText: 'Triage' }).waitFor()
    await page.getByRole('button', { name: 'Send a test event' }).waitFor()
    await page.unrouteAll()
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.locator('canvas').first().waitFor()
    assert.equal(await failure.count(), 0)
  })

  test('[UI-44] [UI-57] a page says that it is being loaded, and one that could not be is loaded at a later attempt or when the service is back, in the same session', async () => {
    // In a context of its own, whose cache does not have the page yet.
    const { page } = await console.signIn(console.adminKey, '/agents', {})
    await page.getByRole('row', { name: /Triage/ }).waitFor()
    let load = (): void => {}
    const held = new Promise<void>((resolve) => (load = resolve))
    await page.route('**/console/assets/**', (route) => held.then(() => route.continue()))
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.locator('main').getByRole('status', { name: 'Loading' }).waitFor()
    assert.equal(await page.locator('h1', { hasText: 'Agents' }).isVisible(), false)
    load()
    await page.getByRole('row', { name: /Incidents/ }).waitFor()
    await page.unrouteAll()
    await page.route('**/console/assets/**', (route) => route.abort())
    await page.getByRole('link', { name: 'Memory' }).click()
    const failure = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
    await failure.waitFor()
    const failedAgain = page.waitForEvent('requestfailed', (request) => request.url().endsWith('attempt=2'))
    await failure.getByRole('button', { name: 'Try again' }).click()
    await failedAgain
    await failure.waitFor()
    await page.unrouteAll()
    await failure.getByRole('button', { name: 'Try again' }).click()
    await page.locator('h1', { hasText: 'Memory' }).waitFor()
    await page.locator('.shell').waitFor()
    assert.equal(await failure.count(), 0)
    await page.route(/\/v1\/|console\/assets/, (route) => route.abort())
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.locator('.banner').waitFor()
    await page.getByRole('link', { name: 'Audit' }).click()
    await failure.waitFor()
    await page.unrouteAll()
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.getByText(/\d+ entries/).waitFor()
  })
})
