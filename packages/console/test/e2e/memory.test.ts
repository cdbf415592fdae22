// The page of memories, used as a person would.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { createClient, parseExactly } from '@sensorium/client'
import { noBrowser } from '../support/chromium.ts'
import { consoleWithMemories } from '../support/console.ts'

/** Resolves once the memory that answers a question best is compared by its meaning. */
async function embedded({ url, adminKey }: { url: string; adminKey: string }, query: string): Promise<void> {
  const client = createClient({ url, apiKey: adminKey })
  for (;;) {
    const { results } = await client.call('searchMemories', { body: { query, limit: 1, explain: true } })
    if (results[0]?.signals?.tokens !== undefined) return
    await new Promise(setImmediate)
  }
}

describe('memory', { skip: noBrowser }, () => {
  const console = consoleWithMemories()

  test('[UI-50] a question finds memories with their signals drawn, and the filters are in the URL', async () => {
    await embedded(console, 'how is pump 4 cooled down')
    const { page, complaints } = await console.signIn(console.adminKey, '/memory?scope=institutional')
    await page
      .getByRole('row', { name: /Pump 7/ })
      .first()
      .waitFor()
    assert.equal(await page.getByRole('row', { name: /Pump 6/ }).count(), 0, 'pump 6 is private')
    await page.keyboard.press('/')
    await page.keyboard.type('how is pump 4 cooled down')
    const first = page.locator('.result').first()
    await first.filter({ hasText: 'How to cool pump 4 down' }).waitFor()
    const [bar] = await first.locator('.signals li').all()
    assert.match((await bar!.getAttribute('title'))!, /meaning.*: 0\.\d+/)
    assert.equal(await first.locator('.signals li').count(), 7)
    await page.setViewportSize({ width: 768, height: 800 })
    const written = (await first.locator('time').boundingBox())!
    const drawn = (await first.locator('.signals').boundingBox())!
    assert.ok(written.height < 24 && written.y + written.height <= drawn.y, 'on a tablet the bars are below the words')
    await page.getByLabel('Type').selectOption('procedural')
    await page.locator('.result', { hasText: 'Pump 4 ran hot' }).waitFor({ state: 'detached' })
    assert.match(page.url(), /scope=institutional/)
    assert.match(page.url(), /type=procedural/)
    assert.match(page.url(), /q=how/)
    await first.click()
    await page.getByRole('heading', { name: 'How to cool pump 4 down' }).waitFor()
    await page.goBack()
    assert.equal(await page.getByLabel('Search by meaning').inputValue(), 'how is pump 4 cooled down')
    assert.deepEqual(complaints, [])
  })

  test('[UI-51] with the keyboard alone a memory is created, edited, promoted, restored and deleted', async () => {
    const { page } = await console.signIn(console.plant.keys.triage, '/memory')
    await page
      .getByRole('row', { name: /Pump 8/ })
      .first()
      .waitFor()
    await page.keyboard.press('c')
    const form = page.getByRole('dialog', { name: 'Remember something' })
    await form.waitFor()
    await page.keyboard.type('The yard floods in March')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Twice in three years.')
    await form.getByLabel('Metadata').fill('{"yard": ')
    await form.getByRole('alert').waitFor()
    await form.getByLabel('Metadata').fill('{"yard": "east", "id": 12345678901234567890, "depth": 1.50}')
    await form.getByLabel('Title').press('Enter')
    await page.getByRole('heading', { name: 'The yard floods in March' }).waitFor()
    const id = page.url().split('/').at(-1)!
    const exact = createClient({ url: console.url, apiKey: console.adminKey, parse: parseExactly })
    const now = () => exact.memory.get(id)
    const metadataNow = async () => JSON.stringify((await now()).metadata)
    assert.equal(await metadataNow(), '{"yard":"east","id":12345678901234567890,"depth":1.50}')

    await page.keyboard.press('e')
    const edit = page.getByRole('dialog', { name: 'Edit the memory' })
    await edit.getByLabel('Content').fill('Every spring.')
    const metadata = edit.getByLabel('Metadata')
    await metadata.fill((await metadata.inputValue()).replace('east', 'west'))
    await edit.getByLabel('Title').press('Enter')
    await page.locator('.memory-content', { hasText: 'Every spring.' }).waitFor()
    // A dialog closes when everything behind it is fresh. Until then, no key reaches the page.
    await edit.waitFor({ state: 'detached' })
    assert.equal((await now()).content, 'Every spring.')
    assert.equal(await metadataNow(), '{"yard":"west","id":12345678901234567890,"depth":1.50}')

    await page.getByRole('button', { name: 'Promote' }).press('Enter')
    const promote = page.getByRole('dialog', { name: 'Promote the memory' })
    await promote.getByLabel('Scope').selectOption('institutional')
    await promote.getByRole('button', { name: 'Promote' }).press('Enter')
    await page.getByText('Shared with everybody').waitFor()
    await promote.waitFor({ state: 'detached' })
    assert.equal((await now()).scope, 'institutional')

    await page.getByRole('button', { name: 'Restore version 1' }).press('Enter')
    await page.locator('.memory-content', { hasText: 'Twice in three years.' }).waitFor()
    assert.equal((await now()).scope, 'institutional', 'a scope only widens')

    await page.getByRole('button', { name: 'Forget' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter')
    assert.equal((await now()).status, 'active')
    await page.getByRole('button', { name: 'Forget' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).press('Enter')
    await page.getByText('Forgotten: The yard floods in March').waitFor()
    await assert.rejects(now(), /no such memory/i)
    await page.getByLabel('Status').selectOption('deleted')
    await page.getByRole('row', { name: /The yard floods/ }).press('Enter')
    await page.getByRole('dialog', { name: 'The yard floods in March' }).waitFor()
  })

  test('[UI-51] a memory is related to another that is found by its meaning, and the relation removed', async () => {
    const { page } = await console.signIn(console.adminKey, `/memory/${console.plant.memories.changed}`)
    await page.getByRole('button', { name: 'Relate' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('is or does').selectOption('contradicts')
    await form.getByLabel('The other memory').fill('why pump 5 was not replaced')
    await form.getByRole('radio', { name: 'Why pump 5 was not replaced' }).check()
    await form.getByRole('button', { name: 'Relate' }).click()
    const line = page.getByRole('listitem').filter({ hasText: 'Why pump 5 was not replaced' })
    await line.filter({ hasText: 'contradicts' }).waitFor()
    await line.getByRole('button', { name: /Delete the relationship/ }).click()
    await line.waitFor({ state: 'detached' })
  })

  test('[UI-65] the memory that was chosen to be related stays in sight while another one is asked for', async () => {
    const { page } = await console.signIn(console.adminKey, `/memory/${console.plant.memories.changed}`)
    await page.getByRole('button', { name: 'Relate' }).click()
    const form = page.getByRole('dialog')
    const query = form.getByLabel('The other memory')
    await query.fill('why pump 5 was not replaced')
    const chosen = form.getByRole('radio', { name: 'Why pump 5 was not replaced' })
    await chosen.check()
    await query.fill('how to cool pump 8 down')
    await form.getByRole('radio', { name: 'How to cool pump 8 down' }).waitFor()
    await page.route('**/memories/search', (route) =>
      route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not today' } } }),
    )
    await query.fill('the north hall')
    await form.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
    assert.equal(await form.getByRole('radio').count(), 1)
    assert.equal(await chosen.isChecked(), true)
    await form.getByRole('button', { name: 'Relate' }).click()
    const line = page.getByRole('listitem').filter({ hasText: 'Why pump 5 was not replaced' })
    await line.getByRole('button', { name: /Delete the relationship/ }).click()
    await line.waitFor({ state: 'detached' })
  })

  test('[UI-66] a team and a project are sent without white space around them, and never as that alone', async () => {
    const { memory } = console.plant.admin
    const { page } = await console.signIn(console.adminKey, '/memory?new=memory')
    const form = page.getByRole('dialog')
    await form.getByLabel('Title').fill('The spare key')
    await form.getByLabel('Content').fill('It hangs in the hall.')
    await form.getByLabel('Scope').selectOption('team')
    await form.getByLabel('Team').fill(' red ')
    await form.getByLabel('Project').fill('   ')
    await form.getByRole('button', { name: 'Remember' }).click()
    await page.getByRole('heading', { name: 'The spare key' }).waitFor()
    const made = await memory.get(page.url().split('/').at(-1)!)
    assert.deepEqual([made.team_id, made.project_id], ['red', null])

    const { id } = await memory.remember({ type: 'semantic', title: 'The other key', content: 'Lost.', scope: 'agent' })
    const other = await console.signIn(console.adminKey, `/memory/${id}`)
    await other.page.getByRole('button', { name: 'Promote' }).click()
    const question = other.page.getByRole('dialog')
    const promote = question.getByRole('button', { name: 'Promote' })
    await question.getByLabel('Team').fill('   ')
    assert.equal(await promote.isDisabled(), true)
    await question.getByLabel('Team').fill(' blue ')
    await promote.click()
    await other.page.getByText('Shared with the team blue').waitFor()
    assert.equal((await memory.get(id)).team_id, 'blue')
  })

  test('[UI-52] the graph grows from a memory by the keyboard, and is drawn', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, `/memory/${console.plant.memories.hall}`)
    await page.getByRole('link', { name: 'Graph' }).press('Enter')
    const status = page.getByRole('status')
    await status.filter({ hasText: '34 memories, 33 relationships' }).waitFor()
    const chosen = page.getByRole('list', { name: 'Relationships of The north hall' })
    await chosen.getByRole('button', { name: 'Pumps run hot when the doors are shut' }).press('Enter')
    assert.match(page.url(), /at=mem_/)
    await page.getByRole('list', { name: 'Relationships of Pumps run hot' }).getByText('contradicts').first().waitFor()
    await page.getByRole('button', { name: /^Expand all/ }).press('Enter')
    await page.getByRole('button', { name: /^Expand all/ }).press('Enter')
    await status.filter({ hasText: '60 memories, 69 relationships' }).waitFor()
    await page.locator('.graph-canvas[data-settled="true"] canvas').first().waitFor()
    await page.getByRole('button', { name: /^supports/ }).press('Enter')
    assert.equal(await page.getByRole('button', { name: /^supports/ }).getAttribute('aria-pressed'), 'false')
    assert.deepEqual(complaints, [])
  })

  test('[UI-9] a refusal of the key signs out in the graph and in an export, and only that', async () => {
    const { page } = await console.signIn(console.adminKey, `/memory/graph?of=${console.plant.memories.hall}`)
    await page.getByRole('status').filter({ hasText: '34 memories, 33 relationships' }).waitFor()
    const refuse = (status: number, code: string) =>
      page.route(/\/(relationships|explore|export)/, (route) =>
        route.fulfill({ status, json: { error: { code, message: 'Not today', request_id: 'req_today' } } }),
      )
    await refuse(403, 'insufficient_scope')
    await page
      .getByRole('button', { name: /^Pumps run hot/ })
      .first()
      .click()
    await page.locator('.toast.bad', { hasText: 'Not today' }).waitFor()
    const more = page.getByRole('button', { name: 'Fetch its other relationships' })
    await more.waitFor()
    await page.getByText('on their way').first().waitFor({ state: 'detached' })
    await page.unrouteAll()
    await refuse(401, 'authentication_failed')
    await more.click()
    const notice = page.getByRole('alert').filter({ hasText: 'You were signed out' })
    await notice.waitFor()

    await page.unrouteAll()
    const other = await console.signIn(console.adminKey, '/memory?new=transfer')
    await other.page.route(/\/export/, (route) =>
      route.fulfill({
        status: 401,
        json: { error: { code: 'authentication_failed', message: 'No', request_id: 'r' } },
      }),
    )
    await other.page.getByRole('button', { name: 'Export to a file' }).click()
    await other.page.getByRole('alert').filter({ hasText: 'You were signed out' }).waitFor()
  })

  test('[UI-53] [UI-74] memories are exported to a file and imported again, and refused lines show their number', async () => {
    const { page, complaints } = await console.signIn(console.adminKey, '/memory')
    await page.getByRole('button', { name: 'Export and import' }).click()
    const drawer = page.getByRole('dialog', { name: 'Export and import' })
    const saving = page.waitForEvent('download')
    await drawer.getByRole('button', { name: 'Export to a file' }).press('Enter')
    const download = await saving
    assert.match(download.suggestedFilename(), /^memories-\d{4}-\d\d-\d\d\.ndjson$/)
    const text = readFileSync(await download.path(), 'utf8')
    const exported = text.trimEnd().split('\n')
    const { total } = await console.plant.admin.memory.list({ limit: 1 })
    assert.equal(exported.filter((line) => 'title' in JSON.parse(line)).length, total)
    await drawer.getByText(`${exported.length} lines`).waitFor()
    const focused = page.locator(':focus')
    await focused.and(drawer.getByRole('button', { name: 'Export to a file', disabled: false })).waitFor()

    const memory = { type: 'semantic', scope: 'institutional', title: 'From a file', content: 'It came by import.' }
    const lines = [
      { ...memory, external_id: 'file-1' },
      { ...memory, title: 'From the same file' },
    ]
    const [first, last] = lines.map((line) => JSON.stringify(line))
    const file = [first, '{"title":', last].join('\n')
    await drawer.getByLabel('File').setInputFiles({
      name: 'some.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(file),
    })
    await drawer.getByRole('button', { name: 'Import the file' }).click()
    await drawer.getByRole('status', { name: 'Imported' }).waitFor()
    await drawer.getByLabel('Lines that were refused').getByText('line 2').waitFor()
    assert.deepEqual(await drawer.locator('.stat .figure').allInnerTexts(), ['2', '0', '0', '1'])
    const held = Promise.withResolvers<void>()
    await page.route('**/v1/memories/import*', () => held.promise)
    await drawer.getByRole('button', { name: 'Import the file' }).press('Enter')
    await focused.and(drawer.getByRole('button', { name: 'Import the file', disabled: true })).waitFor()
    await drawer.getByRole('button', { name: 'Stop' }).waitFor()
    await page.keyboard.press('Escape')
    await drawer.getByRole('button', { name: 'Stop' }).press('Enter')
    await page.getByText('The import was stopped after 0 lines').waitFor()
    await focused.and(drawer.locator('.content')).waitFor()
    held.resolve()
    await page.keyboard.press('Escape')
    await page
      .getByRole('row', { name: /From a file/ })
      .first()
      .waitFor()
    assert.deepEqual(complaints, [])
  })

  test('[UI-10] a key that only reads sees memories and no way to change them', async () => {
    const { admin, agents, memories } = console.plant
    const { key } = await admin.keys.mint(agents.sensor.id, { scopes: ['memory:read'] })
    const { page } = await console.signIn(key, `/memory/${memories.changed}`)
    await page.locator('.memory-content').waitFor()
    for (const name of ['Edit', 'Promote', 'Forget', 'Relate'])
      assert.equal(await page.getByRole('button', { name }).count(), 0, name)
    await page.getByRole('link', { name: 'Back to memories' }).click()
    await page.getByRole('row').nth(1).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Remember' }).count(), 0)
  })
})
