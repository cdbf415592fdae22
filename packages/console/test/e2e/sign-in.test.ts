// Signing in to the console: with which credentials, and what is left behind.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from '@sensorium/client'
import { noBrowser } from '../support/chromium.ts'
import { OPERATOR_TOKEN, consoleForSuite } from '../support/console.ts'

describe('signing in', { skip: noBrowser }, () => {
  const console = consoleForSuite()

  test('[UI-7] an org-admin key opens the console at the requested address, until signing out', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/agents?status=inactive')
    await page.getByRole('row', { name: /Archive/ }).click()
    assert.equal(await page.getByRole('row', { name: /Triage/ }).count(), 0)
    // A failure stays until it is dismissed, but not for whoever signs in next.
    const refusal = { error: { code: 'forbidden', message: 'Not today', request_id: 'req_today' } }
    await page.route('**/activate', (route) => route.fulfill({ status: 403, json: refusal }))
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.locator('.toast.bad').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    assert.equal(await page.locator('.toast').count(), 0)
    assert.equal(await page.title(), 'Sensorium', 'the tab does not name what was shown')
    assert.equal(await page.getByLabel('API key').inputValue(), '')
    assert.deepEqual(complaints, [])
  })

  test('[UI-7] [UI-74] a wrong key is refused with the reason, and nothing is shown', async () => {
    const { page } = await console.open('/agents')
    for (const [key, reason] of [
      ['not a key', /ak_live_ and 32 letters or digits/],
      [`ak_live_${'x'.repeat(32)}`, /not valid/],
    ] as const) {
      await page.getByLabel('API key').fill(key)
      await page.getByRole('button', { name: 'Sign in' }).press('Enter')
      await page.getByRole('alert').filter({ hasText: reason }).waitFor()
      await page
        .locator('button:focus')
        .and(page.getByRole('button', { name: 'Sign in', disabled: false }))
        .waitFor()
    }
    assert.equal(await page.getByRole('navigation').count(), 0)
  })

  test('[UI-8] neither key nor token is stored outside the memory of the tab', async () => {
    const { page } = await console.signIn(console.adminKey, '/agents')
    await page.getByRole('row', { name: /Triage/ }).waitFor()
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    )
    assert.equal(kept, '[{"sensorium-theme":"system"},{},""]')
    const state = await page.context().storageState({ indexedDB: true })
    assert.doesNotMatch(JSON.stringify(state), /ak_live|eyJ/)
    assert.doesNotMatch(page.url(), /ak_live|eyJ/)
    await page.reload()
    await page.getByLabel('API key').waitFor()
  })

  test('[UI-8] the key is sent only to the token exchange', async () => {
    const { page } = await console.open('/agents')
    const carriers: string[] = []
    page.on('request', (request) => {
      const sent = request.url() + JSON.stringify(request.headers()) + (request.postData() ?? '')
      if (sent.includes(console.adminKey)) carriers.push(new URL(request.url()).pathname)
      assert.equal(new URL(request.url()).origin, console.url)
    })
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /Triage/ }).waitFor()
    assert.deepEqual(carriers, ['/v1/auth/token'])
  })

  test('[UI-9] a revoked key ends the session with its next request', async () => {
    const { admin, agents } = console.plant
    const { id, key } = await admin.keys.mint(agents.triage.id, { scopes: ['receive', 'interests:read'] })
    const { page } = await console.signIn(key, `/agents/${agents.triage.id}`)
    await page.getByText('Waiting').first().waitFor()
    await admin.keys.revoke(agents.triage.id, id)
    await page.getByRole('alert').filter({ hasText: 'You were signed out' }).waitFor()
    assert.equal(await page.getByRole('navigation').count(), 0)
    assert.equal(await page.title(), 'Sensorium')
  })

  test('[UI-9] a revoked key ends the session with its stream, where nothing else is requested', async () => {
    const operator = createClient({ url: console.url, token: OPERATOR_TOKEN })
    const { slug } = console
    const { admin_key } = await operator.call('createAdminKey', { params: { slug } })
    const { page } = await console.signIn(admin_key, '/events')
    await page.getByText('live', { exact: true }).waitFor()
    const { keys } = await operator.call('listAdminKeys', { params: { slug } })
    const { id } = keys.find(({ prefix }) => admin_key.startsWith(prefix))!
    await operator.call('revokeAdminKey', { params: { slug, key_id: id } })
    await page.getByRole('alert').filter({ hasText: 'You were signed out' }).waitFor()
  })

  test('[UI-43] a request that is refused after its session is over changes nothing for the next user', async () => {
    const { page } = await console.signIn(console.adminKey, `/agents/${console.plant.agents.triage.id}`)
    const released = Promise.withResolvers<void>()
    const refusal = { error: { code: 'unauthorized', message: 'The token has expired' } }
    await page.route('**/pause', async (route) => {
      await released.promise
      await route.fulfill({ status: 401, json: refusal })
    })
    const asked = page.waitForRequest('**/pause')
    await page.getByRole('button', { name: 'Pause' }).click()
    await asked
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    released.resolve()
    // The client asks for a token of its own and tries once more.
    const again = await page.waitForRequest('**/pause')
    await (await again.response())!.finished()
    await page.getByRole('link', { name: 'Channels' }).click()
    await page.getByRole('row', { name: /Incidents/ }).waitFor()
    assert.equal(await page.locator('.toast').count(), 0)
  })

  test('[UI-10] what the scopes of a key do not allow is not shown', async () => {
    const { admin, agents } = console.plant
    const { key } = await admin.keys.mint(agents.triage.id, { scopes: ['memory:read'] })
    const { page, complaints } = await console.signIn(key, `/agents/${agents.triage.id}`)
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url())
    })
    const queues: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/queue')) queues.push(request.url())
    })
    await page.getByText('Decides what a reading means').waitFor()
    for (const name of ['Keys', 'Interests', 'Recent events'])
      assert.equal(await page.getByRole('heading', { name }).count(), 0, name)
    for (const name of ['Deactivate', 'Send a test event'])
      assert.equal(await page.getByRole('button', { name }).count(), 0)
    // The endpoint of another agent is shown without its state.
    await page.getByRole('link', { name: 'Back to agents' }).click()
    await page.getByRole('row', { name: /Dispatcher/ }).click()
    await page.getByText('https://dispatch.example.com/deliveries').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('an agent')
    await page.getByText('Nothing has that in its name.').waitFor()
    assert.deepEqual([refused, queues, complaints], [[], [], []], 'it does not even ask')
  })

  test('[UI-10] an address of other sessions shows nothing, asks for nothing, and does not end the session', async () => {
    const { page } = await console.open(`/tenants/${console.slug}`)
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(response.url())
    })
    await page.getByRole('button', { name: 'Operator' }).click()
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: console.slug }).waitFor()
    // The address stays the one of the tenant, which only the operator can see.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').fill(console.adminKey)
    await page.keyboard.press('Enter')
    await page.getByText('There is no such page').waitFor()
    await page.getByRole('link', { name: 'Go to the start' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: /Triage/ }).waitFor()
    // And the other way round, at an address of a tenant.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Operator' }).click()
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.getByText('There is no such page').waitFor()
    await page.getByRole('link', { name: 'Tenants' }).click()
    await page.getByRole('row', { name: console.slug }).waitFor()
    assert.deepEqual(refused, [])
  })

  test('[UI-11] with the operator token there is an operator’s mode, which shows nothing of a tenant', async () => {
    const { page } = await console.open()
    await page.getByLabel('API key').fill('not a key')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'ak_live_' }).waitFor()
    await page.getByRole('button', { name: 'Operator' }).click()
    // Neither the key nor what was wrong with it is kept.
    assert.equal(await page.getByLabel('Operator token').inputValue(), '')
    assert.equal(await page.getByRole('alert').count(), 0)
    await page.getByLabel('Operator token').fill('пароль')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'A token has Latin letters' }).waitFor()
    await page.getByLabel('Operator token').fill('not-the-operator-token')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'not the operator token' }).waitFor()
    await page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
    await page.keyboard.press('Enter')
    await page.locator('.who').getByText('Operator').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Agents' }).count(), 0)
  })
})
