// The page of dead letters, used as a person would.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createClient } from '@sensorium/client'
import type { Route } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite, openByKey } from '../support/console.ts'

describe('dead letters', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  const total = async (): Promise<number> => (await console.plant.admin.deliveries.deadLetters({})).total

  let round = 0

  /** Makes six door events that Triage gives up on; everything else that waits for it is handled. */
  beforeEach(async () => {
    const { admin, keys } = console.plant
    round++
    await admin.deliveries.discardMany({ filter: {} })
    const triage = createClient({ url: console.url, apiKey: keys.triage })
    for (let i = 0; i < 6; i++)
      await admin.publish({
        type: 'com.plant.door.opened',
        source: '/plant',
        subject: `door/${i}`,
        data: { door: i, round },
      })
    while ((await total()) < 6) {
      const { deliveries } = await triage.deliveries.poll({ limit: 100 })
      for (const { id, payload } of deliveries) {
        const data = (payload['data'] ?? {}) as { door: number; round?: number }
        const reason = data.door < 4 ? `door ${data.door} is unknown` : 'the register is closed'
        if (data.round === round) await triage.deliveries.nack([id], { dead_letter: true, reason })
        else await triage.deliveries.ack([id])
      }
    }
  })

  test('[UI-31] [UI-73] they are counted by cause, type and agent, and each count is a filter in the URL', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/dead-letters')
    await page.getByRole('region', { name: 'By type' }).getByText('com.plant.door.opened').waitFor()
    await page.getByRole('region', { name: 'By agent' }).getByText('Triage').waitFor()
    await page.getByRole('region', { name: 'By cause' }).getByText('the register is closed').click()
    await page.getByText('2 dead letters fit').waitFor()
    assert.match(decodeURIComponent(page.url()), /reason=the[+ ]register[+ ]is[+ ]closed/)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('6 dead letters', { exact: true }).waitFor()
    await page.getByLabel('Filter by reason').fill('door 3')
    await page.getByRole('status').getByText('1 dead letter fits', { exact: true }).waitFor()
    for (const name of ['Replay 1 dead letter', 'Discard 1 dead letter', 'Select all'])
      await page.getByRole('button', { name, exact: true }).waitFor()
    await page.getByRole('columnheader', { name: 'Select', exact: true }).waitFor()
    await page.getByLabel('Filter by reason').fill('')
    await page.getByText('6 dead letters', { exact: true }).waitFor()
    assert.equal(await page.locator('[role=table] :is([tabindex="0"], input:not([tabindex]))').count(), 1)
    await page.getByLabel('Type pattern').fill('com.other.*')
    await page.getByText('No dead letter fits this filter').waitFor()
    assert.deepEqual(complaints, [])
  })

  test('[UI-18] in a small window, or a large one at 200 %, no box lies over the buttons', async () => {
    const { page } = await console.signIn(console.adminKey, '/dead-letters')
    for (const [width, height] of [
      [640, 400],
      [390, 600],
    ] as const) {
      await page.setViewportSize({ width, height })
      // The browser clicks into the middle, and waits as long as something else is there.
      for (const name of ['Replay all 6', 'Discard all 6'])
        await page.getByRole('button', { name }).click({ trial: true, timeout: 10_000 })
    }
  })

  test('[UI-73] exact times are read without a mouse, and a count is a word of its own', async () => {
    const { dlq_items } = await console.plant.admin.deliveries.deadLetters({ limit: 1 })
    const { id, event_id, dead_lettered_at } = dlq_items[0]!
    const { page } = await console.signIn(console.adminKey, `/dead-letters?open=${id}`)
    const exact = await page.evaluate<string>(`new Date('${dead_lettered_at}').toLocaleString()`)
    await page.getByRole('dialog').getByText(exact).first().waitFor({ timeout: 10_000 })
    await page.getByRole('dialog').getByRole('link', { name: event_id }).click()
    await page.getByRole('heading', { name: /^Receipts \d+$/ }).waitFor({ timeout: 10_000 })
    assert.equal(await page.getByRole('button', { name: 'Copy', exact: true }).count(), 0)
  })

  test('[UI-47] a cause whose filter also shows longer causes says so, and is not shown as the filter', async () => {
    const { admin, keys, agents } = console.plant
    const triage = createClient({ url: console.url, apiKey: keys.triage })
    await admin.publish({ type: 'com.plant.note', source: '/plant', recipient: agents.triage.id })
    const { deliveries } = await triage.deliveries.poll({ limit: 1 })
    await triage.deliveries.nack([deliveries[0]!.id], { dead_letter: true, reason: 'the register' })
    const { page } = await console.signIn(console.adminKey)
    await page.getByRole('link', { name: 'the register 1 + 2 in longer causes' }).click()
    await page.getByText('3 dead letters fit').waitFor()
    const causes = page.getByRole('region', { name: 'By cause' })
    const short = causes.getByRole('button', { name: 'the register 1 + 2 in longer causes' })
    assert.equal(await short.getAttribute('aria-pressed'), 'false')
    await causes.getByRole('button', { name: 'the register is closed 2' }).click()
    await page.getByText('2 dead letters fit').waitFor()
    await causes.getByRole('button', { name: 'the register is closed 2', pressed: true }).waitFor()
  })

  test('[UI-10] the event of a dead letter, a memory or a cause is a link only for those who may read it', async () => {
    const { admin, agents, keys, publish } = console.plant
    const receives = await admin.keys.mint(agents.triage.id, { scopes: ['receive'] })
    const { dlq_items } = await admin.deliveries.deadLetters({ reason: 'door 3 is unknown' })
    const { id, event_id } = dlq_items[0]!
    for (const [key, links] of [
      [receives.key, 0],
      [keys.triage, 0],
      [console.adminKey, 1],
    ] as const) {
      const { page } = await console.signIn(key, `/dead-letters?open=${id}`)
      const letter = page.getByRole('dialog')
      await letter.locator('dd').getByText(event_id).waitFor()
      assert.equal(await letter.getByRole('link', { name: event_id }).count(), links)
      await console.closePages()
    }
    const triage = createClient({ url: console.url, apiKey: keys.triage })
    const memory = { type: 'semantic', scope: 'institutional', title: 'Doors', content: 'They open.' } as const
    const about = await triage.memory.remember({ ...memory, source_event_id: event_id })
    const cause = await publish(1, 50)
    const effect = await triage.publish({ type: 'com.plant.note', source: '/triage', causationid: cause })
    const { page } = await console.signIn(keys.triage, `/memory/${about.id}`)
    await page.locator('dd').getByText(event_id).waitFor()
    assert.equal(await page.getByRole('link', { name: event_id }).count(), 0)
    await page.evaluate<void>(`history.pushState(null, '', '/console/events/${effect.event_id}')`)
    const causes = page.getByRole('region', { name: 'Causes and effects' })
    await causes.getByText('not visible with this key').waitFor()
    assert.equal(await causes.getByRole('link').count(), 0)
  })

  test('[UI-14] [UI-31] one is opened by a key, and replayed after a delay in which it can be undone', async () => {
    const { page } = await console.signIn(console.adminKey, '/dead-letters')
    assert.deepEqual(await openByKey(page.getByRole('row', { name: /door 3 is unknown/ })), [])
    const drawer = page.getByRole('dialog')
    await drawer.getByText('door 3 is unknown').waitFor()
    await drawer.getByText('"door/3"').waitFor()
    await drawer.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replaying one dead letter soon').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Taken back: nothing was replayed').waitFor()
    assert.equal(await total(), 6)
    await page.getByRole('row', { name: /door 3 is unknown/ }).click()
    await drawer.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Replayed 1 of 1').waitFor()
    assert.equal(await total(), 5)
  })

  test('[UI-31] a selection is discarded with the keyboard alone', async () => {
    const { page } = await console.signIn(console.adminKey, '/dead-letters')
    await page
      .getByRole('row', { name: /the register is closed/ })
      .first()
      .focus()
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Discard 1 selected' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.locator('[role="row"][data-index="1"]:focus').waitFor()
    await page.keyboard.press('x')
    await page.getByRole('button', { name: 'Discard 2 selected' }).focus()
    await page.keyboard.press('Enter')
    // The focus is on Undo, and the button that starts it at once is next to it.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Discarded 2 of 2').waitFor()
    const { dlq_items } = await console.plant.admin.deliveries.deadLetters({})
    assert.deepEqual(
      dlq_items.map(({ dlq_reason }) => dlq_reason),
      [3, 2, 1, 0].map((door) => `door ${door} is unknown`),
    )
  })

  test('[UI-31] exactly those that match a filter are replayed; leaving the page undoes it', async () => {
    const { page } = await console.signIn(console.adminKey, '/dead-letters?reason=unknown')
    await page.getByRole('button', { name: 'Replay all 4' }).click()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByText('Taken back: nothing was replayed').waitFor()
    assert.equal(await total(), 6)
    await page.goBack()
    // The first step is done, the second is refused.
    const refusal = { error: { code: 'forbidden', message: 'Not today', request_id: 'req_today' } }
    let steps = 0
    await page.route('**/dlq/replay', (route) =>
      ++steps === 1
        ? route.fulfill({ json: { matched: 3, replayed: 3 } })
        : route.fulfill({ status: 403, json: refusal }),
    )
    await page.getByRole('button', { name: 'Replay all 4' }).click()
    await page.getByRole('button', { name: 'Start now' }).click()
    await page.locator('.toast', { hasText: 'Replayed 3 of 4, then: Not today' }).getByText('req_today').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Replay all 4' }).click()
    await page.getByRole('button', { name: 'Start now' }).click()
    await page.getByText('Replayed 4 of 4').waitFor()
    await page.getByText('No dead letter fits this filter').waitFor()
    assert.equal(await total(), 2)
  })

  test('[UI-31] nothing is replayed or discarded while the list of another filter is shown', async () => {
    const { page } = await console.signIn(console.adminKey, '/dead-letters?reason=unknown')
    const verbs = [page.getByRole('button', { name: /^Replay/ }), page.getByRole('button', { name: /^Discard/ })]
    const enabled = (): Promise<boolean[]> => Promise.all(verbs.map((verb) => verb.isEnabled()))
    await page.getByRole('button', { name: 'Discard all 4' }).waitFor()
    assert.deepEqual(await enabled(), [true, true])
    const held = Promise.withResolvers<Route>()
    await page.route(/delivery\/dlq\?/, held.resolve, { times: 1 })
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Clear' }).waitFor({ state: 'detached' })
    assert.deepEqual(await enabled(), [false, false], 'before the new list is requested')
    const request = await held.promise
    assert.deepEqual(await enabled(), [false, false], 'before the new list has arrived')
    await request.continue()
    await page.getByRole('button', { name: 'Discard all 6' }).waitFor()
    assert.deepEqual(await enabled(), [true, true])
  })

  test('[UI-61] a drawer is opened by its address and stays open, whichever page of the list has its row', async () => {
    const { admin, keys, agents } = console.plant
    const triage = createClient({ url: console.url, apiKey: keys.triage })
    const first = (await admin.deliveries.deadLetters({})).dlq_items.at(-1)!.id
    const more = async (): Promise<void> => {
      const event = { type: 'com.plant.note', source: '/plant', recipient: agents.triage.id }
      await admin.events.publishBatch(Array.from({ length: 100 }, () => event))
      const { deliveries } = await triage.deliveries.poll({ limit: 100 })
      await triage.deliveries.nack(
        deliveries.map(({ id }) => id),
        { dead_letter: true },
      )
    }
    // Its row is on the first page, then on the second.
    const { page } = await console.signIn(console.adminKey, `/dead-letters?open=${first}`)
    const drawer = page.getByRole('dialog', { name: 'com.plant.door.opened' })
    await drawer.getByText(first).waitFor()
    const refreshed = page.getByText('106 dead letters', { exact: true })
    await more()
    await refreshed.waitFor()
    await drawer.getByText(first).waitFor()
    const other = await console.signIn(console.adminKey, `/dead-letters?open=${first}`)
    await other.page.getByRole('dialog', { name: 'com.plant.door.opened' }).getByText(first).waitFor()
    // It is gone for both once it is discarded, and said to be.
    await admin.deliveries.discardMany({ delivery_ids: [first] })
    await page.reload()
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('There is no such dead letter').waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByText('105 dead letters', { exact: true }).waitFor()
  })

  test('[UI-31] an agent sees its own', async () => {
    const { page, complaints } = await console.signIn(console.plant.keys.triage, '/dead-letters')
    await page.getByText('6 dead letters', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Agent', { exact: true }).count(), 0)
    const other = await console.signIn(console.plant.keys.sensor, '/dead-letters')
    await other.page.getByText('No dead letters').waitFor()
    assert.deepEqual([...complaints, ...other.complaints], [])
  })
})
