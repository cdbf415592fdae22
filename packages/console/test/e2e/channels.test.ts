// The page of channels, used as a person would.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite, goTo, pressPair } from '../support/console.ts'

describe('channels', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-30] a channel is created with the keyboard alone, found by its name, and its page has an address', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/channels')
    await page.getByRole('row', { name: /Incidents/ }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog', { name: 'Create a channel' }).waitFor()
    await page.keyboard.type('Night shift')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Night shift' }).waitFor()
    assert.match(page.url(), /\/console\/channels\/chn_/)
    await pressPair(page, 'g', 'c')
    await page.getByLabel('Filter channels').fill('shift')
    await page.getByText('1 of 4 channels').waitFor()
    assert.match(page.url(), /search=shift/)
    assert.deepEqual(complaints, [])
  })

  test('[UI-30] a member is added with a role and removed after a confirmation; the last owner stays', async () => {
    const { admin, channels, agents } = console.plant
    const { page } = await console.signIn(console.adminKey, `/channels/${channels.incidents.id}`)
    const members = page.getByRole('region', { name: /Members/ })
    await members.getByRole('button', { name: 'Add' }).click()
    const form = page.getByRole('dialog', { name: 'Add to Incidents' })
    await form.getByLabel('Agent').selectOption({ label: 'Sensor gateway' })
    await form.getByLabel('Role').selectOption('admin')
    await form.getByRole('button', { name: 'Add' }).click()
    await page.getByText('Sensor gateway is in Incidents').waitFor()
    const inside = async () => (await admin.channels.members(channels.incidents.id)).members
    const added = (await inside()).find(({ participant_id }) => participant_id === agents.sensor.id)
    assert.equal(added?.role, 'admin')
    await members.getByRole('button', { name: 'Remove Sensor gateway' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No longer in Incidents').waitFor()
    assert.ok(!(await inside()).some(({ participant_id }) => participant_id === agents.sensor.id))
    await members.getByRole('button', { name: 'Remove Org admin' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The last owner stays in the channel').waitFor()
  })

  test('[UI-30] a feed is added, with errors shown while it is typed, and deleted', async () => {
    const { admin, channels } = console.plant
    const { page } = await console.signIn(console.adminKey, `/channels/${channels.incidents.id}`)
    await page.getByRole('button', { name: 'Add a feed' }).click()
    const form = page.getByRole('dialog', { name: 'Add a feed' })
    await form.getByLabel('Event type').fill('com.plant.leak.*')
    await form.getByLabel('Filter').fill('data.litres >> 3')
    await form.getByRole('alert').filter({ hasText: 'line 1, column 14' }).waitFor()
    await form.getByLabel('Filter').fill('data.litres > 3')
    await form.getByRole('button', { name: 'Add the feed' }).click()
    await page.getByText('Incidents now receives com.plant.leak.*').waitFor()
    const { feeds } = await admin.channels.feeds(channels.incidents.id)
    assert.ok(feeds.some(({ filter_expression }) => filter_expression === 'data.litres > 3'))
    await page.getByRole('button', { name: 'Delete the feed of com.plant.leak.*' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The feed is gone').waitFor()
  })

  test('[UI-74] when a line of a panel is deleted, its title has the focus', async () => {
    const { admin, agents } = console.plant
    const { id } = await admin.channels.create({ name: 'Lines', type: 'open' })
    for (const type of ['com.lines.one', 'com.lines.two'])
      await admin.channels.createFeed(id, { event_type_glob: type })
    await admin.channels.addMember(id, { participant_type: 'agent', participant_id: agents.sensor.id })
    const { page } = await console.signIn(console.adminKey, `/channels/${id}`)
    for (const [line, verb, title] of [
      ['Delete the feed of com.lines.two', 'Delete', /^Feeds/],
      ['Delete the feed of com.lines.one', 'Delete', /^Feeds/],
      [/^Remove .*Sensor/, 'Remove', /^Members/],
    ] as const) {
      await page.getByRole('button', { name: line }).press('Enter')
      await page.getByRole('dialog').getByRole('button', { name: verb }).press('Enter')
      await page
        .locator('h2:focus')
        .and(page.getByRole('heading', { name: title }))
        .waitFor()
    }
  })

  test('[UI-74] a page stays where it is when a line is deleted', async () => {
    const { admin } = console.plant
    const { id } = await admin.channels.create({ name: 'Long', type: 'open' })
    for (let feed = 10; feed < 40; feed++) await admin.channels.createFeed(id, { event_type_glob: `com.long.n${feed}` })
    const { page } = await console.signIn(console.adminKey, `/channels/${id}`)
    await page.setViewportSize({ width: 1280, height: 500 })
    const title = page.getByRole('heading', { name: /^Feeds/ })
    await page.getByRole('button', { name: 'Delete the feed of com.long.n20' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
    await page.locator('h2:focus').and(title).waitFor()
    assert.ok((await title.boundingBox())!.y < 0, 'the title is out of sight')
  })

  test('[UI-74] a line that is gone before its dialog is closed leaves the focus to the title', async () => {
    const { admin, agents } = console.plant
    const { id } = await admin.channels.create({ name: 'Two hands', type: 'open' })
    await admin.channels.addMember(id, { participant_type: 'agent', participant_id: agents.sensor.id })
    // With options, because a clock is that of all pages which share their storage.
    const { page } = await console.signIn(console.adminKey, '/channels', {})
    await page.clock.install()
    await goTo(page, `/channels/${id}`)
    const line = page.locator('[aria-label="Remove Sensor gateway"]')
    await line.press('Enter')
    await page.locator('dialog[open] button:focus').waitFor()
    await admin.channels.removeMember(id, 'agent', agents.sensor.id)
    await page.clock.fastForward(16_000)
    await line.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page
      .locator('h2:focus')
      .and(page.getByRole('heading', { name: /^Members/ }))
      .waitFor()
  })

  test('[UI-30] posts and events of a feed are shown as they happen, and nothing else', async () => {
    const { admin, channels } = console.plant
    const { page, complaints } = await console.signIn(console.adminKey, `/channels/${channels.incidents.id}`)
    const traffic = page.getByRole('region', { name: /Traffic/ })
    await traffic.getByText('live', { exact: true }).waitFor()
    const source = '/plant/south'
    await admin.publish({ type: 'com.plant.alarm.fire', source, data: { level: 1 } })
    await admin.publish({ type: 'com.plant.alarm.fire', source, data: { level: 4 } })
    await admin.publish({ type: 'com.plant.pump.measured', source, data: { celsius: 99 } })
    await traffic.getByRole('row', { name: /com\.plant\.alarm\.fire.*"level":4/ }).waitFor()
    assert.equal(await traffic.getByRole('row').count(), 2, 'the head and the one that passes')
    await page.getByRole('button', { name: 'Post an event' }).click()
    const form = page.getByRole('dialog', { name: 'Post into Incidents' })
    await form.getByLabel('Type').fill('com.plant.note.written')
    await form.getByLabel('Who would get this').getByText('Triage').waitFor()
    await form.getByRole('button', { name: 'Publish' }).click()
    await page.getByText('Accepted, for 2 mailboxes').waitFor()
    // The page of the event is open, with its receipts.
    await page.getByText('it was addressed').first().waitFor()
    assert.match(page.url(), /\/console\/events\//)
    assert.deepEqual(complaints, [])
  })

  test('[UI-70] the org-admin, as a member of a channel, is a recipient with a name and without a page', async () => {
    const { admin } = console.plant
    const id = await console.plant.publish(3, 20, { type: 'com.plant.power.lost' })
    const { page, complaints } = await console.signIn(console.adminKey, `/events/${id}`)
    const receipt = page.locator('.receipts li', { hasText: 'Org admin' })
    await receipt.waitFor()
    assert.equal(await receipt.getByRole('link').count(), 0)
    await page.locator('.receipts').getByRole('link', { name: 'Triage' }).waitFor()
    const { deliveries } = await admin.deliveries.poll({ limit: 100 })
    const own = deliveries.find(({ payload }) => payload['id'] === id)!
    await admin.deliveries.nack([own.id], { dead_letter: true, reason: 'nobody is in' })
    await page.getByRole('link', { name: 'Dead letters' }).first().click()
    await page.getByRole('region', { name: 'By agent' }).getByText('Org admin').waitFor()
    await page.getByLabel('Agent', { exact: true }).selectOption('Org admin')
    await page.getByRole('row', { name: /nobody is in Org admin/ }).click()
    const letter = page.getByRole('dialog')
    await letter.getByText('Org admin').waitFor()
    assert.equal(await letter.getByRole('link', { name: 'Org admin' }).count(), 0)
    await page.keyboard.press('Escape')
    await letter.waitFor({ state: 'detached' })
    await page.evaluate<void>("history.pushState(null, '', '/console/events?new=event')")
    const form = page.getByRole('dialog', { name: 'Publish an event' })
    await form.getByLabel('Type').fill('com.plant.power.lost')
    await form.getByLabel('Who would get this').getByText('Org admin').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('[UI-30] [UI-74] an agent joins and leaves an open channel, and manages only its own', async () => {
    const { channels, keys } = console.plant
    const { page, complaints } = await console.signIn(keys.sensor, '/channels')
    await page.getByRole('row', { name: /Incidents/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /Repairs/ }).count(), 0)
    await page.getByRole('row', { name: /Incidents/ }).click()
    await page.getByRole('button', { name: 'Join' }).press('Enter')
    await page.getByText('You are in Incidents').waitFor()
    await page.getByRole('button', { name: 'Leave the channel' }).waitFor()
    const title = page.getByRole('heading', { name: /^Members/ })
    await page.locator('h2:focus').and(title).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 0)
    assert.equal(await page.getByRole('region', { name: /Traffic/ }).count(), 0)
    await page.getByRole('button', { name: 'Leave the channel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('button', { name: 'Join' }).waitFor()
    assert.match(page.url(), new RegExp(channels.incidents.id))
    assert.deepEqual(complaints, [])
  })

  test('[UI-30] a channel is deleted after a confirmation, by its owner only', async () => {
    const { admin, channels, keys } = console.plant
    const { id } = await admin.channels.create({ name: 'Too many', type: 'open' })
    const other = await console.signIn(keys.sensor, `/channels/${id}`)
    await other.page.getByRole('button', { name: 'Join' }).waitFor()
    assert.equal(await other.page.getByRole('button', { name: 'Delete', exact: true }).count(), 0)
    const { page } = await console.signIn(console.adminKey, `/channels/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Too many is deleted').waitFor()
    await page.getByRole('row', { name: /Incidents/ }).waitFor()
    const left = await admin.channels.list()
    assert.ok(left.channels.some((channel) => channel.id === channels.incidents.id))
    assert.ok(!left.channels.some((channel) => channel.id === id))
  })
})
