// Overview and events, updated live.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Route } from 'playwright-core'
import { parseExactly } from '@sensorium/client'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite } from '../support/console.ts'

describe('events', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-13] [UI-19] a published event appears by itself, through one stream for the tab', async () => {
    const { page, complaints } = await console.open('/')
    const streams: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/v1/live')) streams.push(request.url())
    })
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.getByText('live', { exact: true }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/live-1' })
    await page.getByText('pump/live-1').waitFor()
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await page.getByRole('row', { name: /pump\/live-1/ }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/live-2' })
    await page.getByRole('row', { name: /pump\/live-2/ }).waitFor()
    assert.equal(streams.length, 1)
    assert.deepEqual(complaints, [])
  })

  test('[UI-19] the stream is filtered by type and expression, and a wrong expression is explained', async () => {
    const { page } = await console.signIn(
      console.adminKey,
      '/events?type=com.plant.pump.*&filter=data.celsius%20%3E%2090',
    )
    assert.equal(await page.getByLabel('Filter expression').inputValue(), 'data.celsius > 90')
    await page.getByText('live', { exact: true }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/cold' })
    await console.plant.publish(1, 95, { subject: 'pump/hot' })
    await page.getByRole('row', { name: /pump\/hot/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /pump\/cold/ }).count(), 0)
    await page.getByLabel('Filter expression').fill('data.celsius >')
    await page.getByRole('alert').waitFor()
    await page.getByText('refused', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'No events are shown' }).waitFor()
    assert.equal(await page.getByText('Connecting').count(), 0)
    await page.getByLabel('Filter expression').fill('')
    await page.getByText('live', { exact: true }).waitFor()
  })

  test('[UI-19] a paused stream shows no new events, and catches up when it resumes', async () => {
    const { page } = await console.signIn(console.adminKey, '/events')
    await page.getByText('live', { exact: true }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/before' })
    await page.getByRole('row', { name: /pump\/before/ }).waitFor()
    await page.keyboard.press('p')
    await page.getByText('paused', { exact: true }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/meanwhile' })
    await page.getByRole('button', { name: 'Resume (1 new)' }).waitFor()
    assert.equal(await page.getByRole('row', { name: /pump\/meanwhile/ }).count(), 0)
    await page.getByRole('button', { name: /Resume/ }).click()
    await page.getByRole('row', { name: /pump\/meanwhile/ }).waitFor()
  })

  test('[UI-19] stored events are searched by type, subject, source and id, as in the URL', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/events')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/events') asked.push(searchParams.get('type') ?? '')
    })
    await page.getByLabel('Type pattern').focus()
    // All keys at once, because a busy machine delays each call.
    await Promise.all([...'com.plant.visit.*'].map((key) => page.keyboard.press(key)))
    await page.getByText('1 event', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Type pattern').inputValue(), 'com.plant.visit.*')
    assert.ok(asked.length <= 4, `one search for what was typed, not for each letter: ${asked}`)
    assert.match(page.url(), /view=search.*type=com\.plant\.visit/)
    const other = await console.signIn(console.adminKey, '/events?view=search&id=advice-1')
    await other.page.getByRole('row', { name: /com\.plant\.advice\.given/ }).click()
    await other.page.getByRole('heading', { name: 'com.plant.advice.given' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('[UI-49] the time of an event of another day is shown whole, with its date, also on a phone', async () => {
    await console.plant.publish(1, 50, { subject: 'pump/long-ago' })
    for (const width of [1280, 390]) {
      const { page } = await console.open('/events?view=search', { viewport: { width, height: 800 } })
      await page.route(/\/v1\/events\?/, async (route) => {
        const response = await route.fetch()
        const { events, ...rest } = (await response.json()) as { events: object[] }
        const old = events.map((event) => ({ ...event, received_at: '2024-09-28T12:58:58.000Z' }))
        await route.fulfill({ response, json: { ...rest, events: old } })
      })
      await page.getByLabel('API key').fill(console.adminKey)
      await page.keyboard.press('Enter')
      const cell = page
        .getByRole('cell')
        .filter({ hasText: /Sep 28/ })
        .first()
      await cell.getByText(/\d\d:\d8$/).waitFor()
      const out = await page.evaluate<number>(
        '(() => { const cell = document.querySelector("[role=cell]:has(time)"); return cell.scrollWidth - cell.clientWidth })()',
      )
      assert.equal(out, 0, `at ${width}`)
      await console.closePages()
    }
  })

  test('[UI-20] an event shows its recipients and why, its data, its cause and its effects', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/events/advice-1')
    await page.getByRole('heading', { name: 'com.plant.advice.given' }).waitFor()
    await page.locator('.receipts').getByText('Dispatcher').waitFor()
    await page.locator('.receipts').getByText('by its interest').waitFor()
    await page.getByText('"Open the valve"').waitFor()
    const acceptance = page.getByRole('region', { name: 'Acceptance' })
    await acceptance.getByRole('link', { name: 'Sensor gateway' }).waitFor()
    assert.deepEqual(await acceptance.locator('dt').allInnerTexts(), ['Received', 'Sender'])
    const causes = page.locator('.causes')
    await causes
      .getByRole('list', { name: 'What it led to' })
      .getByRole('link', { name: /com\.plant\.visit\.planned/ })
      .waitFor()
    await causes.getByRole('link', { name: /com\.plant\.pump\.measured/ }).click()
    await page.getByRole('heading', { name: 'com.plant.pump.measured' }).waitFor()
    const tree = page.locator('.json')
    await tree.getByText('"north"').waitFor()
    await tree.getByRole('button', { name: /^at/ }).click()
    await tree.getByText('"north"').waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
  })

  test('[UI-20] an agent, who may not ask from whom an event came, is not shown it', async () => {
    const { page, complaints } = await console.signIn(console.plant.keys.sensor, '/events/advice-1')
    await page.getByText('"Open the valve"').waitFor()
    await page.getByRole('region', { name: 'Envelope' }).waitFor()
    assert.equal(await page.getByRole('region', { name: 'Acceptance' }).count(), 0)
    assert.deepEqual(complaints, [])
  })

  test('[UI-20] attributes that the publisher chose are shown apart from those that the service checked, and numbers with all digits', async () => {
    const forged = { Id: 'tx-1', Type: 'com.bank.approved', Source: '/bank', ext: { toString: 1, valueOf: 1 } }
    const numbers = ['12345678901234567890', '1.50', '1e400', '-0', '7']
    const data = parseExactly(`[${numbers}]`)
    await console.plant.admin.publish({ id: 'forged-1', type: 'com.plant.note', source: '/mallory', ...forged, data })
    const { page, complaints } = await console.signIn(console.adminKey, '/events/forged-1')
    const checked = page.getByRole('region', { name: 'Envelope' })
    await checked.getByText('/mallory').waitFor()
    assert.deepEqual(await checked.locator('dt').allInnerTexts(), ['Id', 'Type', 'Source', 'Time'])
    assert.equal(await checked.getByText('/bank').count(), 0)
    const others = page.getByRole('region', { name: 'Other attributes' })
    await others.getByText('"/bank"').waitFor()
    await others.getByText('valueOf:').waitFor()
    assert.deepEqual(await page.getByRole('region', { name: 'Data' }).locator('.value').allInnerTexts(), numbers)
    assert.deepEqual(complaints, [])
  })

  test('[UI-17] a page that fails leaves the rest of the console usable', async () => {
    const { page } = await console.open('/events/advice-1')
    await page.route('**/v1/events/advice-1', (route) => route.fulfill({ json: { event: null, deliveries: null } }))
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'This page failed' }).waitFor()
    await page.unrouteAll()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: /Triage/ }).waitFor()
  })

  test('[UI-21] the form shows who would receive the event and its errors, and publishes it', async () => {
    const { page } = await console.signIn(console.adminKey, '/events')
    await page.getByRole('button', { name: 'Publish' }).click()
    const form = page.getByRole('dialog', { name: 'Publish an event' })
    await form.getByLabel('Type').fill('com.plant.pump.measured')
    await form.getByText('Nobody: no interest').waitFor()
    await form.getByLabel('Data').fill('{"celsius": 99')
    await form.getByRole('alert').waitFor()
    assert.ok(await form.getByRole('button', { name: 'Publish' }).isDisabled())
    await form.getByLabel('Data').fill('{"celsius": 99, "serial": 12345678901234567890}')
    await form.getByText('Triage').waitFor()
    await form.getByLabel('Type').fill('not a type')
    await form.getByRole('button', { name: 'Publish' }).click()
    await form.getByRole('alert').filter({ hasText: 'Expected' }).waitFor()
    await form.getByLabel('Type').fill('com.plant.pump.measured')
    await form.getByLabel('Id', { exact: true }).fill('from-the-form')
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/events'))
    await form.getByRole('button', { name: 'Publish' }).click()
    assert.ok((await sent).postData()!.includes(':12345678901234567890}'))
    await page.getByText('Accepted, for 1 mailbox', { exact: true }).waitFor()
    assert.match(page.url(), /\/events\/from-the-form$/)
    assert.equal((await console.plant.admin.events.get('from-the-form')).deliveries.length, 1)
  })

  test('[UI-63] a list that is returned to has the filter, the view and the place that it was left with', async () => {
    for (let pump = 0; pump < 60; pump++) await console.plant.publish(pump, 50, { subject: `pump/place-${pump}` })
    const { page } = await console.signIn(console.adminKey, '/events?view=search&type=com.plant.*')
    const left = page.url()
    const place = page.locator('.table .scroll')
    const isAt = (top: number) =>
      page.waitForFunction(`document.querySelector('.table .scroll')?.scrollTop === ${top}`, undefined)
    const openOne = async (): Promise<void> => {
      await page.getByRole('row', { name: 'pump/place-30' }).click()
      await page.getByRole('heading', { name: 'Receipts' }).waitFor()
    }
    await page.getByRole('row', { name: 'pump/place-59' }).waitFor()
    await place.evaluate((scroller) => ((scroller as { scrollTop: number }).scrollTop = 720))
    await openOne()
    await page.goBack()
    await isAt(720)
    await openOne()
    await page.getByRole('link', { name: 'Back to events' }).click()
    await isAt(720)
    assert.equal(page.url(), left)
    // A new visit of the address begins at the top.
    await openOne()
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByRole('row', { name: 'pump/place-59' }).waitFor()
    await isAt(0)
  })

  test('[UI-19] a live list says what it counts: what arrived while the tab was watching', async () => {
    const { page } = await console.signIn(console.adminKey, '/events')
    await page.getByText('live', { exact: true }).waitFor()
    await console.plant.publish(1, 50, { subject: 'pump/watched' })
    await page.getByRole('row', { name: /pump\/watched/ }).waitFor()
    await page.getByText('1 event arrived while this tab was watching').waitFor()
    // The traffic of a channel has a filter of its own, which drops what was there.
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.getByRole('row', { name: /Incidents/ }).click()
    await page
      .getByRole('region', { name: /Traffic/ })
      .getByText('Nothing yet')
      .waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    const latest = page.getByRole('region', { name: 'Latest events' })
    await latest.getByText('pump/watched').waitFor()
  })

  test('[UI-19] a live list begins with the newest events of before', async () => {
    await console.plant.publish(1, 50, { subject: 'pump/earlier' })
    const { page } = await console.signIn(console.adminKey, '/events?type=com.plant.pump.*')
    await page.getByRole('row', { name: /pump\/earlier/ }).waitFor()
    await page.getByText(/^0 events arrived while this tab was watching, \d+ before/).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await console.plant.publish(1, 95, { subject: 'pump/later' })
    await page.getByRole('row', { name: /pump\/later/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /pump\/later/ }).count(), 1)
    const rows = await page.getByRole('row').allInnerTexts()
    const at = (subject: string): number => rows.findIndex((row) => row.includes(subject))
    assert.ok(at('pump/later') < at('pump/earlier'), 'the newest first')
    // An expression holds for what arrives, and a search has none.
    await page.getByLabel('Filter expression').fill('data.celsius > 90')
    await page.getByRole('row', { name: /pump\/earlier/ }).waitFor({ state: 'detached' })
  })

  test('[UI-71] the overview shows no number before the stream has told it, and none of an earlier visit', async () => {
    const { page } = await console.signIn(console.adminKey)
    const figures = page.locator('.stat .figure')
    await page.locator('.stat', { hasText: 'Backlog' }).getByText(/\d/).waitFor()
    // The stream ends some seconds after the page was left.
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/v1/live'))
    await page.getByRole('link', { name: 'Audit' }).click()
    await ended
    const nothingIsKnown = async (): Promise<void> =>
      assert.deepEqual(
        await figures.allInnerTexts(),
        Array.from({ length: 6 }, () => '—'),
      )
    const requests = [Promise.withResolvers<Route>(), Promise.withResolvers<Route>()]
    let asked = 0
    await page.route(/\/v1\/live/, (route) => requests[asked++]!.resolve(route), { times: 2 })
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('connecting', { exact: true }).waitFor()
    await nothingIsKnown()
    await (await requests[0]!.promise).abort()
    await page.getByText('reconnecting', { exact: true }).waitFor()
    await nothingIsKnown()
    const error = { code: 'forbidden', message: 'Not today', request_id: 'req_today' }
    await (await requests[1]!.promise).fulfill({ status: 403, json: { error } })
    await page.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
    await nothingIsKnown()
  })

  test('[UI-22] the overview is live, and its numbers link to their lists', async () => {
    const { page } = await console.signIn(console.adminKey)
    await page.getByText('no rule for').first().waitFor()
    const backlog = page.locator('.stat', { hasText: 'Backlog' }).locator('.figure')
    await page.getByText('live', { exact: true }).waitFor()
    const before = Number(await backlog.innerText())
    await console.plant.publish(3, 99)
    await backlog.filter({ hasText: String(before + 1) }).waitFor()
    // The org-admin is a member of a channel that takes this, and in no list of agents.
    await console.plant.admin.publish({ type: 'com.plant.power.lost', source: '/plant' })
    const waits = page.getByText(/^\d+ deliver(y waits|ies wait) for the org-admin, the oldest for /)
    const guide = await waits.getByRole('link', { name: 'How to read them' }).getAttribute('href')
    const [, anchor] = guide!.split('#')
    assert.match(await (await fetch(console.url + guide)).text(), new RegExp(`<h3 id="${anchor}">`))
    await page
      .locator('.stat', { hasText: 'Backlog' })
      .getByText(/^\d+ for the org-admin$/)
      .waitFor()
    await page.getByRole('button', { name: '1 h', exact: true }).click()
    await page.getByText('Each minute').waitFor()
    await page.locator('.chart canvas').waitFor()
    await page.getByRole('row', { name: /Triage/ }).click()
    await page.getByRole('heading', { name: 'Triage' }).waitFor()
    await page.goBack()
    await page
      .getByRole('link', { name: /^Events/ })
      .nth(1)
      .click()
    await page.getByLabel('Type pattern').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: /^Backlog/ }).click()
    await page.getByRole('columnheader', { name: 'Waiting' }).waitFor()
    const waiting = await page.getByRole('row').locator('.cell:nth-child(2)').allInnerTexts()
    const counts = waiting.slice(1).map(Number)
    assert.deepEqual(
      counts,
      [...counts].sort((a, b) => b - a),
    )
    assert.ok(counts[0]! > 0)
    await page.goBack()
    await page
      .getByRole('link', { name: /no rule for/ })
      .first()
      .click()
    await page.waitForURL(/dead-letters\?reason=/)
  })
})
