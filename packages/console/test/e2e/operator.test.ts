// The operator's mode: tenants, their settings, usage and keys, and their webhooks and connectors.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createClient, type Client } from '@sensorium/client'
import { bash } from '../../../server/test/support/process.ts'
import { assertSound } from '../support/axe.ts'
import { noBrowser } from '../support/chromium.ts'
import { OPERATOR_TOKEN, consoleForSuite, goAfresh, openByKey } from '../support/console.ts'

describe('the operator', { skip: noBrowser }, () => {
  const console = consoleForSuite()
  let operator: Client
  before(() => {
    operator = createClient({ url: console.url, token: OPERATOR_TOKEN })
  })

  test('[UI-22] [UI-32] a tenant is created with the keyboard alone, its key is shown once, and its overview says how to begin', async () => {
    const { page, complaints } = await console.signInAsOperator('/')
    await page.getByRole('row', { name: console.slug }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog', { name: 'Create a tenant' }).waitFor()
    await page.keyboard.type('Not A Slug')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'Expected a slug' }).waitFor()
    await page.getByLabel('Slug').fill('acme')
    await page.keyboard.press('Enter')
    const key = await page.locator('.secret code').innerText()
    assert.equal(await createClient({ url: console.url, apiKey: key }).agent(), null, 'an org-admin’s')
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('heading', { name: 'acme' }).waitFor()
    assert.match(page.url(), /\/console\/tenants\/acme$/)
    await page.getByText(key).waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
    const { page: own } = await console.signIn(key)
    await own.getByText('No agent is active').waitFor()
    await own.getByText('live', { exact: true }).waitFor()
    const command = (await own.locator('.snippet code').innerText()).replace('ak_live_…', key)
    for (const time of ['first', 'second']) {
      const { stdout, stderr } = await bash(command)
      assert.match(stdout, /"event_id":"hello-\d+","status":"accepted"/, `${time}: ${stdout}${stderr}`)
    }
    await own
      .getByRole('link', { name: /com\.example\.hello\.said/ })
      .nth(1)
      .waitFor()
    await own.getByRole('link', { name: 'Register an agent' }).click()
    await own.getByRole('dialog', { name: 'Register an agent' }).waitFor()
  })

  test('[UI-32] [UI-67] [UI-74] settings and quotas are changed, refused with a reason, and reset to the default', async () => {
    const { page } = await console.signInAsOperator(`/tenants/${console.slug}`)
    const settings = async () => operator.call('getTenantSettings', { params: { slug: console.slug } })
    const focused = page.locator('button:focus')
    await page.getByLabel('Attempts').fill('0')
    await page.getByRole('button', { name: 'Save one change' }).press('Enter')
    await page.getByRole('alert').filter({ hasText: 'an integer from 1 to 1000' }).waitFor()
    await focused.and(page.getByRole('button', { name: 'Save one change', disabled: false })).waitFor()
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await focused.and(page.getByRole('button', { name: 'Undo', disabled: true })).waitFor()
    await page.getByLabel('Attempts').fill('0')
    await page.getByRole('link', { name: 'Ingestion' }).click()
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await page.getByLabel('Attempts').inputValue(), '0', 'what was typed is still there')
    await page.getByLabel('Attempts').fill('7')
    await page.getByLabel('Of one agent').fill('off')
    await page.getByRole('button', { name: 'Save 2 changes' }).click()
    await page.getByText('Saved: it holds on every node within a second').waitFor()
    const { max_attempts, rate_limit_agent, quota_agents } = await settings()
    assert.deepEqual([max_attempts, rate_limit_agent, quota_agents], [7, 'off', null])
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
    await page.getByLabel('Attempts').fill('')
    await page.getByRole('button', { name: 'Save one change' }).click()
    await page.getByPlaceholder('default').nth(1).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
    assert.equal((await settings()).max_attempts, null)
    await page.getByLabel('Attempts').fill('9')
    await page.getByRole('link', { name: 'Ingestion' }).click()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.locator('h1', { hasText: 'Ingestion' }).waitFor()
    // Back closes a dialog first, and asks nothing.
    await page.getByRole('link', { name: 'Tenants' }).click()
    await page.getByRole('row', { name: console.slug }).first().click()
    await page.getByLabel('Attempts').fill('9')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog')
    await palette.waitFor()
    await page.goBack()
    await palette.waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Attempts').inputValue(), '9')
  })

  test('[UI-32] usage is drawn, and an org-admin key is made and revoked', async () => {
    const { page } = await console.signInAsOperator(`/tenants/${console.slug}`)
    const { days } = await operator.call('getUsage', { query: { tenant: console.slug } })
    const events = days.reduce((sum, day) => sum + day.events, 0)
    await page.getByRole('figure', { name: `Events: ${events} in 30 days` }).waitFor()
    await page.getByRole('button', { name: 'Make one' }).click()
    const key = await page.locator('.secret code').innerText()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const { keys } = await operator.call('listAdminKeys', { params: { slug: console.slug } })
    const made = keys.find(({ prefix }) => key.startsWith(prefix))!
    // The audit log and the command line name the key by it.
    await page.getByText(made.id, { exact: true }).waitFor()
    await page.getByRole('button', { name: `Revoke the key ${key.slice(0, 12)}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The key is revoked').waitFor()
    await assert.rejects(createClient({ url: console.url, apiKey: key }).agent())
  })

  test('[UI-14] [UI-33] [UI-67] [UI-74] a webhook is added, its sample mapped as it is typed and sent, and it is opened by a key', async () => {
    const { page, complaints } = await console.signInAsOperator('/ingestion')
    await page.getByRole('button', { name: 'Add a webhook' }).click()
    const form = page.getByRole('dialog', { name: 'Add a webhook' })
    await form.getByLabel('Tenant').selectOption(console.slug)
    await form.getByLabel('Source').fill('shop')
    await form.getByText('Mapping').click()
    await form.getByLabel('Entity').fill('body.kind ++ 1')
    await form.getByText('Mapping').click()
    await form.getByLabel('Entity').waitFor({ state: 'hidden' })
    const focused = page.locator('button:focus')
    await form.getByRole('button', { name: 'Add the webhook' }).press('Enter')
    await form.getByRole('alert').filter({ hasText: 'CEL expression' }).waitFor()
    await focused.and(form.getByRole('button', { name: 'Add the webhook', disabled: false })).waitFor()
    await form.getByLabel('Entity').fill('body.kind')
    await form.getByRole('button', { name: 'Add the webhook' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const sample = page.getByRole('region', { name: 'Send a sample' })
    await sample.getByText('com.shop.unmapped.received').waitFor()
    await sample.getByLabel('Body').fill('{"kind": "order", "action": "paid", "id": "o-77", "total": 12}')
    await sample.getByText('com.shop.order.paid').waitFor()
    await sample.getByText('order/o-77', { exact: true }).waitFor()
    await sample.getByLabel('Headers').fill('x-name: Zoë 中文')
    await sample.getByRole('alert').filter({ hasText: 'x-name cannot be sent' }).waitFor()
    assert.equal(await sample.getByRole('button', { name: 'Send it' }).isDisabled(), true)
    await sample.getByLabel('Headers').fill('x-name: Zoë')
    await sample.getByRole('button', { name: 'Send it' }).press('Enter')
    await sample.getByRole('status').filter({ hasText: 'accepted' }).waitFor()
    await focused.and(sample.getByRole('button', { name: 'Send it', disabled: false })).waitFor()
    const { event } = await console.plant.admin.events.get('shop:o-77')
    assert.deepEqual([event?.type, event?.subject], ['com.shop.order.paid', 'order/o-77'])
    await sample.getByLabel('Signing secret').fill('whsec_not_the_secret')
    await sample.getByRole('button', { name: 'Send it' }).click()
    await sample.getByRole('alert').filter({ hasText: 'not the secret of this webhook' }).waitFor()
    assert.match(page.url(), /open=whk_/)
    await page.keyboard.press('Escape')
    await sample.waitFor({ state: 'detached' })
    assert.deepEqual(await openByKey(page.getByRole('row', { name: /shop/ })), [])
    await sample.waitFor()
    assert.deepEqual(complaints, [])
  })

  test('[UI-14] [UI-33] a connector is opened by a key, shows its state and error, is paused, and deleted after a confirmation', async () => {
    const { page } = await console.signInAsOperator('/ingestion')
    await page.getByRole('button', { name: 'Add a connector' }).click()
    const form = page.getByRole('dialog', { name: 'Add a connector' })
    await form.getByLabel('Tenant').selectOption(console.slug)
    await form.getByLabel('Source').fill('erp')
    await form.getByLabel('Broker').fill('amqp://user:secret@127.0.0.1:9')
    await form.getByLabel('Address').fill('/amq/queue/orders')
    await form.getByRole('button', { name: 'Add the connector' }).click()
    await page.getByText('erp is connecting').waitFor()
    assert.deepEqual(await openByKey(page.getByRole('row', { name: /erp/ })), [])
    const drawer = page.getByRole('dialog', { name: 'erp' })
    assert.equal(await drawer.getByText('secret').count(), 0)
    await drawer.locator('.failed').waitFor()
    await drawer.getByRole('button', { name: 'Pause' }).click()
    await drawer.getByRole('button', { name: 'Resume' }).waitFor()
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByRole('dialog', { name: /Delete/ })
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.getByText('erp is gone').waitFor()
    const { total } = await operator.call('listConnectors', { query: {} })
    assert.equal(total, 0)
  })

  test('[UI-48] [UI-74] what fails in a dialog is shown in it, and a message is in front of an open dialog', async () => {
    const { webhook } = await operator.call('createWebhook', { body: { tenant: console.slug, source: 'refused' } })
    const { page } = await console.signInAsOperator(`/ingestion?open=${webhook.id}`)
    await page.route(/\/operator\/webhooks\/whk_/, (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not today' } } }),
    )
    for (const [opens, verb] of [
      ['New secret', 'Make a new one'],
      ['Delete', 'Delete'],
    ] as const) {
      await page.getByRole('dialog', { name: 'refused' }).getByRole('button', { name: opens }).click()
      const question = page.getByRole('dialog').filter({ hasText: '?' })
      await question.getByRole('button', { name: verb }).press('Enter')
      await question.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
      await page
        .locator('button:focus')
        .and(question.getByRole('button', { name: verb, disabled: false }))
        .waitFor()
      await question.getByRole('button', { name: 'Cancel' }).click()
    }
    await operator.call('deleteWebhook', { params: { id: webhook.id } })

    const body = { tenant: console.slug, source: 'crm', url: 'amqp://127.0.0.1:9', address: '/amq/queue/crm' }
    const { connector } = await operator.call('createConnector', { body })
    const { id } = connector
    await page.route(/\/pause$/, (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not today' } } }),
    )
    await page.evaluate<void>(`history.pushState(null, '', '/console/ingestion?open=${id}')`)
    const drawer = page.getByRole('dialog', { name: 'crm' })
    await drawer.getByRole('button', { name: 'Pause' }).click()
    await drawer.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
    await page.unroute(/\/pause$/)
    await drawer.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('crm rests').waitFor()
    // The browser draws its top layer in front of everything else; the last that was opened is in front.
    assert.equal(await page.locator('.toasts:popover-open').count(), 1)
    await operator.call('deleteConnector', { params: { id } })
  })

  test('[UI-18] axe finds nothing serious on the pages of the operator, and none is wider than its window', async () => {
    const { webhook } = await operator.call('createWebhook', { body: { tenant: console.slug, source: 'axe' } })
    const views = [
      { at: '/tenants', shows: console.slug },
      { at: `/tenants/${console.slug}`, shows: 'Org-admin keys' },
      { at: '/ingestion', shows: 'No connector yet' },
      { at: '/ingestion?new=webhook', shows: 'Signing secret' },
      { at: `/ingestion?open=${webhook.id}`, shows: 'com.axe.order.created' },
    ]
    const { page, complaints } = await console.signInAsOperator()
    for (const { at, shows } of views) {
      await goAfresh(page, at)
      await page.getByText(shows).first().waitFor()
      await assertSound(page, at)
      assert.deepEqual(complaints, [])
    }
  })

  test('[UI-45] a list of webhooks or connectors that could not be loaded is not shown as empty', async () => {
    const { page } = await console.signInAsOperator('/')
    await page.getByRole('row', { name: console.slug }).waitFor()
    const lists = /\/operator\/(webhooks|connectors)/
    await page.route(lists, (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not today', request_id: 'req_1' } } }),
    )
    await page.getByRole('link', { name: 'Ingestion' }).click()
    const webhooks = page.getByRole('region', { name: 'Webhooks' })
    const connectors = page.getByRole('region', { name: 'Connectors' })
    for (const panel of [webhooks, connectors]) {
      await panel.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
      assert.equal(await panel.getByText(/^No (webhook|connector) yet$/).count(), 0)
      assert.equal(await panel.locator('.count').count(), 0, 'how many there are is not known')
    }
    await page.unroute(lists)
    await webhooks.getByRole('button', { name: 'Try again' }).click()
    await webhooks.locator('.count').waitFor()
    assert.equal(await webhooks.getByRole('alert').count(), 0)
  })

  test('[UI-14] [UI-34] the audit log is filtered by actor, action and time, for tenant and operator, and opened by a key', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/audit')
    await page.getByLabel('Who').selectOption('Org admin')
    await page.getByText(/\d+ entries fit/).waitFor()
    assert.match(page.url(), /actor=adm_/)
    await page.getByLabel('Who').selectOption('Everybody')
    await page.getByLabel('Action').selectOption('mintKey')
    await page.getByText(/\d+ entries fit/).waitFor()
    assert.match(page.url(), /action=mintKey/)
    assert.deepEqual(await openByKey(page.getByRole('row', { name: /Mint key/ }).first()), [])
    const entry = page.getByRole('dialog', { name: 'Mint key' })
    await entry.getByText(/^aud_/).waitFor()
    await entry.getByText('"memory:read"').first().waitFor()
    await entry.getByRole('button', { name: 'All that they did' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.match(page.url(), /actor=adm_/)
    await page.getByLabel('From').fill('2020-01-01')
    await page.getByLabel('to', { exact: true }).fill('2020-01-31')
    await page.getByText('No entry fits this filter').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    const { total } = await console.plant.admin.audit({ limit: 1 })
    await page.getByText(`${total} entries`).waitFor()
    // The operator sees the same log on the page of the tenant.
    const own = await console.signInAsOperator(`/tenants/${console.slug}`)
    await own.page.getByRole('link', { name: 'Audit log' }).click()
    await own.page.getByText(`${total} entries`).waitFor()
    await assertSound(own.page, `/tenants/${console.slug}/audit`)
    assert.deepEqual([...complaints, ...own.complaints], [])
  })
})
