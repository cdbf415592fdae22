// Texts that are too long, and lists that are too long.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from '@sensorium/client'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite, goTo, OPERATOR_TOKEN } from '../support/console.ts'

describe('extremes', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-18] a reason without a space is wrapped on the page of its event and of its dead letter', async () => {
    const admin = createClient({ url: console.url, apiKey: console.adminKey })
    const { id } = console.plant.agents.triage
    const { event_id } = await admin.publish({ type: 'com.extreme', source: '/extreme', recipient: id })
    const { key } = await admin.keys.mint(id, { scopes: ['receive'] })
    const triage = createClient({ url: console.url, apiKey: key })
    for (let found = false; !found; ) {
      const { deliveries } = await triage.deliveries.poll({ limit: 100 })
      assert.ok(deliveries.length > 0)
      const own = deliveries.find((delivery) => delivery.event_id === event_id)
      if (own) await triage.deliveries.nack([own.id], { dead_letter: true, reason: 'r'.repeat(1_000) })
      found = own !== undefined
    }
    const places = 'document.querySelectorAll("main, .panel")'
    const wider = `[...${places}].filter((one) => one.scrollWidth > one.clientWidth).length`
    for (const width of [1280, 390]) {
      const at = `/events/${event_id}`
      const { page } = await console.signIn(console.adminKey, at, { viewport: { width, height: 800 } })
      await page.getByText('rrrrrrrrrr').waitFor()
      assert.equal(await page.evaluate(wider), 0, `the event at ${width}`)
      await goTo(page, '/dead-letters')
      await page.getByRole('row', { name: /com\.extreme/ }).click()
      await page.getByRole('dialog').getByText('rrrrrrrrrr').first().waitFor()
      const out = await page.evaluate<number>(
        '(() => { const one = document.querySelector("[role=dialog] .failed, dialog .failed"); return one.scrollWidth - one.clientWidth })()',
      )
      assert.equal(out, 0, `the dead letter at ${width}`)
      await console.closePages()
    }
  })

  test('[UI-55] a long title is wrapped, and neither it nor a long slug is wider than the window', async () => {
    const title = 'A rather long name of many words, all of which somebody wants to read'
    const slug = 'x'.repeat(63)
    const operator = createClient({ url: console.url, token: OPERATOR_TOKEN })
    await operator.call('createTenant', { body: { slug, name: title } })
    const { page } = await console.open(`/tenants/${slug}`, { viewport: { width: 390, height: 800 } })
    await page.getByRole('button', { name: 'Operator' }).click()
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByTitle(slug).waitFor()
    const heading = page.getByRole('heading', { level: 1, name: title })
    assert.equal(await heading.getAttribute('title'), title)
    const cut = 'document.querySelector("h1").scrollHeight - document.querySelector("h1").clientHeight'
    assert.equal(await page.evaluate<number>(cut), 0, 'all of the title is in view')
    const out = 'document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth'
    assert.equal(await page.evaluate<number>(out), 0)
    const [arrow, words] = await Promise.all([page.locator('.back').boundingBox(), heading.boundingBox()])
    assert.ok(words!.x > arrow!.x + arrow!.width && words!.y < arrow!.y + arrow!.height, 'the arrow is beside it')
    assert.ok(words!.height > 40, 'more than one line')
  })

  test('[UI-55] a long name makes no dialog and no message wider than it is, the cross of a dialog stays, and a list has the name in a tooltip', async () => {
    const { admin } = console.plant
    const name = 'n'.repeat(255)
    const agent = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
    const memory = { type: 'semantic', scope: 'institutional', content: 'Long.' } as const
    const { id } = await admin.memory.remember({ ...memory, title: 't'.repeat(2_000) })
    const wider = `[...document.querySelectorAll("dialog, dialog *, .toast, .toast *")]
      .filter((one) => getComputedStyle(one).overflowX !== "hidden" && one.clientWidth > 0)
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.outerHTML.slice(0, 80)).join()`
    const viewport = { width: 390, height: 800 }
    const { page } = await console.signIn(console.adminKey, `/agents/${agent.id}`, { viewport })
    const dialog = page.getByRole('dialog')
    const assertInside = async (): Promise<void> => {
      await dialog.waitFor()
      assert.equal(await page.evaluate(wider), '')
      const cross = (await dialog.getByRole('button', { name: 'Close' }).boundingBox())!
      assert.ok(
        cross.x + cross.width <= viewport.width && cross.y > 0 && cross.y < viewport.height,
        'its cross is in view',
      )
    }
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await assertInside()
    await dialog.getByRole('button', { name: 'Deactivate' }).click()
    await dialog.waitFor({ state: 'detached' })
    const toast = (await page.locator('.toast').boundingBox())!
    assert.ok(toast.x + toast.width <= viewport.width && toast.height < 300, 'the message is in the window')
    assert.equal(await page.evaluate(wider), '')
    await goTo(page, '/agents')
    await page.locator('.cell', { hasText: name }).hover()
    await page.locator(`.cell[title="${name}"]`).waitFor()
    await goTo(page, `/memory/${id}`)
    for (const verb of ['Forget', 'Relate']) {
      await page.getByRole('button', { name: verb, exact: true }).click()
      await assertInside()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
  })

  test('[UI-56] right-to-left text is shown from its beginning, and JSON keeps the order of name and value', async () => {
    const name = 'وكيل المراقبة '.repeat(12).trim()
    const { admin } = console.plant
    const { id } = await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
    const data = { مفتاح: 'قيمة', داخل: { رقم: 1 } }
    const { event_id } = await admin.publish({ type: 'com.rtl', source: '/rtl', recipient: id, data })
    const { page } = await console.signIn(console.adminKey, `/events/${event_id}`)
    await page.locator('.json').getByText('قيمة').waitFor()
    const names = await page.locator('.json li > .name').all()
    const values = await page.locator('.json li > :is(.string, .value)').all()
    assert.ok(names.length >= 2 && values.length === names.length)
    for (const [index, one] of names.entries()) {
      const [left, right] = await Promise.all([one.boundingBox(), values[index]!.boundingBox()])
      assert.ok(left!.x + left!.width <= right!.x + 1, 'the value is behind the name')
      const colon = `(() => {
        const text = document.querySelectorAll('.json li > .name')[${index}].querySelector('bdi').nextSibling
        const range = new Range()
        range.setStart(text, 0)
        range.setEnd(text, 1)
        return range.getBoundingClientRect().right
      })()`
      assert.ok((await page.evaluate<number>(colon)) <= right!.x + 1, 'the colon is between them')
    }
    await goTo(page, '/agents')
    await page.getByRole('row', { name }).waitFor()
    // How far the first letter is outside of its cell.
    const hidden = `(() => {
      const cell = [...document.querySelectorAll('[role=cell]')].find((one) => one.textContent.startsWith('وكيل'))
      const range = new Range()
      range.setStart(cell.querySelector('strong').firstChild, 0)
      range.setEnd(cell.querySelector('strong').firstChild, 1)
      return range.getBoundingClientRect().right - cell.getBoundingClientRect().right
    })()`
    assert.ok((await page.evaluate<number>(hidden)) < 1, 'the first letter is in view')
  })

  test('[UI-22] [UI-47] with more agents than it reads, the overview does not claim that nothing waits, nor the list that it is all', async () => {
    const admin = createClient({ url: console.url, apiKey: console.adminKey })
    const newer = Array.from({ length: 51 }, (_, i) => `Newer ${i}`)
    for (const name of newer) await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
    const { page } = await console.signIn(console.adminKey)
    await page.getByText('Nothing waits here').waitFor()
    await page.getByText('Of the newest 50 active agents.').first().waitFor()
    assert.equal(await page.getByText('Nothing waits for an agent').count(), 0)
    assert.equal(await page.getByText('No endpoint is known to have failed at its latest push.').count(), 0)
    await page.getByRole('link', { name: /^Backlog/ }).click()
    await page.getByText('50 active agents, the newest of more').waitFor()
    // Of all agents there still are more than are looked at.
    const { agents } = await admin.agents.list({ limit: 200 })
    for (const { id, name } of agents) if (name.startsWith('Newer')) await admin.agents.deactivate(id)
    const { total } = await admin.agents.list({ status: 'active', limit: 1 })
    await page.getByText(`${total} active agents`, { exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Filter active agents' }).fill('nobody')
    await page.getByText('No active agent fits this filter').waitFor()
  })

  test('[UI-47] [UI-72] [UI-24] with more agents than are listed, an older one is shown by its name, added by its id, and found', async () => {
    const { admin, agents, channels } = console.plant
    const newer = Array.from({ length: 200 }, (_, i) => `Newest ${i}`)
    for (const name of newer) await admin.agents.register({ name, delivery_mode: 'poll', client_type: 'other' })
    const { id } = agents.sensor
    const { page } = await console.signIn(console.adminKey, `/dead-letters?agent=${id}`)
    await page.getByText('No dead letter fits this filter').waitFor()
    const filter = page.getByLabel('Agent', { exact: true })
    await filter.locator('option', { hasText: 'Newest 7' }).first().waitFor({ state: 'attached' })
    await filter.locator('option:checked', { hasText: 'Sensor gateway' }).waitFor({ state: 'attached' })

    await goTo(page, `/channels/${channels.incidents.id}`)
    await page
      .getByRole('region', { name: /Members/ })
      .getByRole('button', { name: 'Add' })
      .click()
    const form = page.getByRole('dialog', { name: 'Add to Incidents' })
    await form.getByText('Those of the newest 200').waitFor()
    await form.getByLabel('Agent', { exact: true }).selectOption('Another one, by its id')
    await form.getByLabel('Agent id').fill(id)
    await form.getByRole('button', { name: 'Add' }).click()
    await page.getByText(`${id} is in Incidents`).waitFor()
    const members = page.getByRole('region', { name: /Members/ })
    await members.getByRole('link', { name: 'Sensor gateway' }).waitFor()

    // A hundred lines of each list at a time.
    const { agents: newest } = await admin.agents.list({ limit: 130 })
    for (const { id: participant_id } of newest)
      await admin.channels.addMember(channels.incidents.id, { participant_type: 'agent', participant_id })
    const { event_id } = await admin.channels.post(channels.incidents.id, { type: 'com.plant.all', source: '/plant' })
    const total = (await admin.events.get(event_id)).deliveries.length
    await goTo(page, `/events/${event_id}`)
    const receipts = page.getByRole('region', { name: /Receipts/ })
    // One of them may just be pushed to.
    await receipts.getByText(/^\d+ waiting/).waitFor()
    assert.equal(await receipts.locator('.receipt-who').count(), 100)
    await receipts.getByRole('button', { name: `Show ${total - 100} more` }).click()
    await receipts.getByRole('button', { name: /^Show/ }).waitFor({ state: 'detached' })
    assert.equal(await receipts.locator('.receipt-who').count(), total)
    await page.goBack()
    await members.getByRole('button', { name: /^Show \d+ more$/ }).waitFor()
    assert.equal(await members.locator('.lines > li strong').count(), 100)

    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('gateway')
    await page.getByRole('option', { name: /Only the newest 200 of \d+ were searched/ }).click()
    await page.getByRole('row', { name: /Sensor gateway/ }).waitFor()
    assert.match(page.url(), /\/console\/agents\?search=gateway/)
  })
})
