// The page of agents, used as a person would.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from '@sensorium/client'
import { noBrowser } from '../support/chromium.ts'
import { consoleForSuite } from '../support/console.ts'

describe('agents', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-12] [UI-66] an agent is registered with a team, found by its name, and its page has an address', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('button', { name: 'Register' }).click()
    const form = page.getByRole('dialog', { name: 'Register an agent' })
    await form.getByLabel('Name').fill('Night shift')
    await form.getByLabel('Client type').fill('a client that nobody configured')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.getByRole('alert').filter({ hasText: 'Expected' }).waitFor()
    await form.getByLabel('Client type').fill('other')
    for (const name of ['Team', 'External id']) {
      await form.getByLabel(name).fill('x'.repeat(256))
      await form.getByRole('button', { name: 'Register' }).click()
      await form.getByRole('alert').filter({ hasText: 'Expected a non-empty string of at most 255' }).waitFor()
      await form.getByLabel(name).and(form.locator('[aria-invalid=true]')).fill('   ')
    }
    await form.getByLabel('Team').fill(' night-shift ')
    await form.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('heading', { name: 'Night shift' }).waitFor()
    const made = await console.plant.admin.agents.get(page.url().split('/').at(-1)!)
    assert.deepEqual([made.team_id, made.external_id], ['night-shift', undefined])
    assert.match(page.url(), /\/console\/agents\/agt_/)
    await page.getByRole('link', { name: 'Back to agents' }).click()
    await page.getByLabel('Filter agents').fill('night')
    await page.getByText('1 of 5 agents').waitFor()
    assert.match(page.url(), /search=night/)
    assert.deepEqual(complaints, [])
  })

  test('[UI-12] a key is minted, shown once, works, and is revoked', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.sensor.id}`)
    await page.getByRole('button', { name: 'Mint' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('admin').check()
    await form.getByRole('button', { name: 'Mint the key' }).click()
    const key = await form.locator('.secret code').innerText()
    assert.match(key, /^ak_live_[A-Za-z0-9]{32}$/)
    const scopes = await createClient({ url: console.url, apiKey: key }).scopes()
    assert.ok(scopes!.includes('admin'))
    await form.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText(key).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Revoke the key ${key.slice(0, 12)}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The key is revoked').waitFor()
    await assert.rejects(createClient({ url: console.url, apiKey: key }).agent(), /revoked|not valid|expired/i)
  })

  test('[UI-54] an expired key is marked, and revoking the key of this session says that it signs out', async () => {
    const { admin, agents } = console.plant
    const { key } = await admin.keys.mint(agents.archive.id, { scopes: ['admin'] })
    await admin.keys.mint(agents.archive.id, {
      scopes: ['receive'],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await admin.agents.activate(agents.archive.id)
    // A context of its own: its clock is ahead, so that the second key has expired.
    const { page } = await console.signIn(key, `/agents/${agents.archive.id}`, {})
    const keys = page.getByRole('region', { name: 'Keys' }).getByRole('listitem')
    await keys.filter({ hasText: 'expires in' }).waitFor()
    await page.clock.setFixedTime(Date.now() + 7_200_000)
    await page.getByRole('button', { name: 'Mint' }).click()
    await page.keyboard.press('Escape')
    await keys.filter({ hasText: 'expired 1 h ago' }).getByText('expired', { exact: true }).waitFor()
    await page.getByRole('button', { name: `Revoke the key ${key.slice(0, 12)}` }).click()
    await page.getByRole('dialog').getByText('You are signed in with this key').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('You were signed out').waitFor()
  })

  test('[UI-12] a key that is shown on the page of one agent is gone on the page of another', async () => {
    const { sensor, triage } = console.plant.agents
    const { page } = await console.signIn(console.adminKey, `/agents/${triage.id}`)
    await page.getByRole('button', { name: 'Mint' }).click()
    await page.getByRole('button', { name: 'Mint the key' }).click()
    await page.locator('.secret').waitFor()
    // Neither a link nor Back leads away from the dialog. A script does.
    await page.evaluate<void>(`history.pushState(null, '', '/console/agents/${sensor.id}')`)
    await page.locator('h1', { hasText: 'Sensor gateway' }).waitFor()
    assert.equal(await page.locator('.secret').count(), 0)
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  test('[UI-6] a filter is tried while it is typed, and an error is shown at its position', async () => {
    const { page } = await console.signIn(console.plant.keys.triage, `/agents/${console.plant.agents.triage.id}`)
    await page.getByRole('button', { name: 'Add' }).click()
    const form = page.getByRole('dialog', { name: 'Add an interest' })
    await form.getByText(/Would have received (\d+) of the latest \1 events/).waitFor()
    await form.getByLabel('Event type').fill('com.other.*')
    await form.getByText('Would have received 0 of the latest').waitFor()
    await form.getByLabel('Event type').fill('com.plant.*')
    await form.getByLabel('Filter').fill('data.celsius >> 3')
    const mistake = form.getByRole('alert')
    await mistake.filter({ hasText: 'line 1, column 15' }).waitFor()
    assert.match((await mistake.innerText()).split('\n')[1]!, /^ {14}\^/)
    await form.getByLabel('Filter').fill('\tdata.celsius >> 3')
    await mistake.filter({ hasText: 'line 1, column 16' }).waitFor()
    assert.match((await mistake.textContent())!.split('\n')[1]!, /^\t {14}\^/)
    // The mistake is shown until the new text was tried, in which its line may be gone.
    await form.getByLabel('Filter').fill('data.a > 1 &&\ndata.b > 1 &&\ndata.c >> 1')
    await mistake.filter({ hasText: 'line 3' }).waitFor()
    await form.getByLabel('Filter').fill('')
    await mistake.waitFor({ state: 'detached' })
    await form.getByLabel('Filter').fill('data.celsius > 1000')
    await form.getByText('it gives false').first().waitFor()
    await form.getByRole('button', { name: 'Add the interest' }).click()
    await page.getByText('Triage now receives com.plant.*').waitFor()
    const { interests } = await console.plant.admin.interests.list(console.plant.agents.triage.id)
    assert.ok(interests.some(({ filter_expression }) => filter_expression === 'data.celsius > 1000'))
  })

  test('[UI-12] an org-admin whose clock is slow adds an interest, also if its key cannot be revoked then', async () => {
    const { triage } = console.plant.agents
    // A context of its own: the clock would stay in the tab that tests share.
    const { page } = await console.signIn(console.adminKey, `/agents/${triage.id}`, {})
    await page.clock.setFixedTime('2020-01-01T00:00:00Z')
    await page.route('**/keys/*', (route) => route.fulfill({ status: 403, json: { error: 'forbidden' } }))
    await page.getByRole('button', { name: 'Add' }).click()
    const form = page.getByRole('dialog', { name: 'Add an interest' })
    await form.getByLabel('Event type').fill('com.slow.*')
    await form.getByRole('button', { name: 'Add the interest' }).click()
    await page.getByText('Triage now receives com.slow.*').waitFor()
    await form.waitFor({ state: 'detached' })
    const left = (await console.plant.admin.keys.list(triage.id)).keys.find(({ scopes }) => scopes.length === 1)!
    await page.getByText(`The key ${left.id} was used and could not be revoked`).waitFor()
    await console.plant.admin.keys.revoke(triage.id, left.id)
  })

  test('[UI-12] an org-admin adds an interest through a key that is used once, and deletes it', async () => {
    const { admin, agents } = console.plant
    const before = await admin.keys.list(agents.triage.id)
    const { page } = await console.signIn(console.adminKey, `/agents/${agents.triage.id}`)
    await page.getByRole('button', { name: 'Add' }).click()
    const form = page.getByRole('dialog', { name: 'Add an interest' })
    await form.getByLabel('Event type').fill('com.night.*')
    await form.getByRole('button', { name: 'Add the interest' }).click()
    await page.getByText('Triage now receives com.night.*').waitFor()
    assert.equal((await admin.keys.list(agents.triage.id)).keys.length, before.keys.length, 'no key is left')
    await page.getByRole('button', { name: 'Delete the interest in com.night.*' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The interest is gone').waitFor()
  })

  test('[UI-13] changes in the mailbox are shown without a reload', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.triage.id}`)
    const waiting = page.locator('.stat', { hasText: 'to be handed out' }).locator('.figure')
    const before = Number(await waiting.innerText())
    await console.plant.publish(3, 99)
    await waiting.filter({ hasText: String(before + 1) }).waitFor()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await waiting.filter({ hasText: String(before + 2) }).waitFor()
  })

  test('[UI-12] an agent is paused and resumed', async () => {
    const { agents, admin } = console.plant
    const { page } = await console.signIn(console.adminKey, `/agents/${agents.sensor.id}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('paused', { exact: true }).waitFor()
    assert.equal((await admin.agents.get(agents.sensor.id)).paused, true)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('active', { exact: true }).waitFor()
    assert.equal((await admin.agents.get(agents.sensor.id)).paused, false)
  })

  test('[UI-74] a button that acts where it is keeps the focus', async () => {
    const { agents, admin } = console.plant
    const { page } = await console.signIn(console.adminKey, `/agents/${agents.sensor.id}`)
    const focused = page.locator('button:focus')
    await page.getByRole('button', { name: 'Pause' }).focus()
    for (const next of ['Resume', 'Pause']) {
      await page.keyboard.press('Enter')
      await focused.and(page.getByRole('button', { name: next, exact: true })).waitFor()
    }
    const sent = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    let requests = 0
    await page.route('**/test-event', async (route) => {
      requests++
      asked.resolve()
      await sent.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Send a test event' }).focus()
    await page.keyboard.press('Enter')
    await asked.promise
    await page.locator('button:focus[aria-disabled=true]').waitFor()
    await page.keyboard.press('Enter')
    sent.resolve()
    await focused.and(page.getByRole('button', { name: 'Send a test event', disabled: false })).waitFor()
    assert.equal(requests, 1, 'while it runs, a further press does nothing')
    await page.getByRole('button', { name: 'Deactivate' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).press('Enter')
    await focused.and(page.getByRole('button', { name: 'Activate', exact: true })).waitFor()
    await page.keyboard.press('Enter')
    await focused.and(page.getByRole('button', { name: 'Deactivate', exact: true })).waitFor()
    assert.equal((await admin.agents.get(agents.sensor.id)).status, 'active')
  })

  test('[UI-74] a key that is held presses a button once', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.sensor.id}`)
    const { keyboard } = page
    let requests = 0
    page.on('request', (request) => {
      if (/\/(pause|resume)$/.test(request.url())) requests++
    })
    await page.getByRole('button', { name: 'Pause' }).focus()
    await keyboard.down('Enter')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await keyboard.down('Enter')
    await keyboard.up('Enter')
    for (const step of ['down', 'down', 'up'] as const) await keyboard[step]('Space')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    assert.equal(requests, 2)
    await page.getByRole('button', { name: 'Deactivate' }).focus()
    await keyboard.down('Enter')
    await page.locator('dialog[open] button:focus').waitFor()
    await keyboard.down('Enter')
    await keyboard.up('Enter')
    assert.equal(await page.getByRole('dialog').count(), 1, 'nor the button that has the focus then')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('[UI-12] an agent is deactivated after a confirmation, and activated again', async () => {
    const { agents, admin } = console.plant
    const { page } = await console.signIn(console.adminKey, `/agents/${agents.dispatch.id}`)
    await page.getByText('https://dispatch.example.com/deliveries').waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await admin.agents.get(agents.dispatch.id)).status, 'active')
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByText('Dispatcher is active').waitFor()
    assert.equal((await admin.agents.get(agents.dispatch.id)).status, 'active')
  })

  test('[UI-14] [UI-24] a long list is one stop of Tab and scrolls as a whole, and only the visible part is fetched', async () => {
    const { admin } = console.plant
    const first = await admin.agents.register({ name: 'Found far down', delivery_mode: 'poll', client_type: 'other' })
    const more = Array.from({ length: 420 }, (_, i) => ({ name: `Worker ${i}`, client_type: 'other' as const }))
    while (more.length > 0)
      await Promise.all(more.splice(0, 20).map((agent) => admin.agents.register({ ...agent, delivery_mode: 'poll' })))
    const { total } = await admin.agents.list({ limit: 1 })
    const { page, complaints } = await console.signIn(console.adminKey, '/agents')
    const asked: number[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/agents') asked.push(Number(searchParams.get('offset')))
    })
    await page.getByText(`${total} agents`).waitFor()
    await page
      .getByRole('row', { name: /Worker/ })
      .first()
      .focus()
    await page.keyboard.press('End')
    // The plant's agents are the oldest, so they are at the end of the list.
    await page.getByRole('row', { name: /Triage/ }).waitFor()
    assert.equal(await page.locator('[role=row]:focus').getAttribute('aria-rowindex'), String(total + 1))
    assert.ok(!asked.includes(100) && !asked.includes(200), `what was passed was not asked for: ${asked}`)
    await page.keyboard.press('Home')
    await page.locator('[role=row][aria-rowindex="2"]:focus').waitFor()
    // The table is one stop of Tab, at the row that had the focus last.
    await page.keyboard.press('ArrowDown')
    await page.locator('[role=row][aria-rowindex="3"]:focus').waitFor()
    assert.equal(await page.locator('[role=row][tabindex="0"]').count(), 1)
    await page.keyboard.press('Shift+Tab')
    assert.equal(await page.locator('[role=row]:focus').count(), 0)
    await page.keyboard.press('Tab')
    await page.locator('[role=row][aria-rowindex="3"]:focus').waitFor()
    await page.getByLabel('Filter agents').fill('far down')
    await page.getByText(`1 of ${total} agents`).waitFor()
    await page.getByRole('row', { name: /Found far down/ }).click()
    await page.waitForURL(`**/agents/${first.id}`)
    assert.deepEqual(complaints, [])
  })
})
