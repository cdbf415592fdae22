// What a user sees of a network, a service or a key that fails.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite } from '../support/console.ts'

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
})
