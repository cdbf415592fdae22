// A real service with plants in it, and a browser that opens its console. Starting the two takes more CPU than a page's
// tests, so all files of a folder share them (server/test/support/kept.ts); each file has its own tenant.
import { afterEach, before } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { createClient } from '@sensorium/client'
import { keep } from '../../../server/test/support/kept.ts'
import { startProcess, type RunningProcess } from '../../../server/test/support/process.ts'
import { startBrowser } from './chromium.ts'
import { buildPlant, buildPlantWithMemories, type Plant, type PlantWithMemories } from './plant.ts'

export const OPERATOR_TOKEN = 'operator-token-for-tests'

const SCREEN = { width: 1280, height: 800 }

/** To find tests that rely on a fast machine: calls of a page are held back for up to this long, most of them less. */
const DELAY_MS = Number(process.env['BROWSER_DELAY_MS'] ?? 0)

export interface OpenPage {
  page: Page
  /** Errors of the page, and violations of its policy. */
  complaints: string[]
}

interface Site {
  url: string
  /**
   * Opens a page, signed out. Pages share the browser's storage and cache, but not the session, unless there are
   * options other than the size of its window; `{}` is enough.
   */
  open(at?: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** Opens a page, signed in. */
  signIn(key: string, at?: string, options?: BrowserContextOptions): Promise<OpenPage>
  signInAsOperator(at?: string): Promise<OpenPage>
  /** Stops the service and starts it again on the same port and data. */
  restart(whileAway: () => Promise<void>): Promise<void>
  closePages(): Promise<void>
  stop(): Promise<void>
}

export interface ConsoleUnderTest<P = Plant> extends Site {
  /** The slug of the tenant that has the plant. */
  slug: string
  adminKey: string
  plant: P
}

type Build<P> = (url: string, adminKey: string) => Promise<P>

/** Presses two keys that belong together within a second, sent at once because a busy machine delays each call. */
export async function pressPair(page: Page, first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)])
}

/** Navigates as a link does: loading a page from scratch takes more CPU than most of what is tested on it. */
export async function goTo(page: Page, at: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${at}`)})`)
}

/** The same, but leaves the previous view first, so that it cannot be mistaken for this one. */
export async function goAfresh(page: Page, at: string): Promise<void> {
  await goTo(page, '/no/such/page')
  await page.getByText('There is no such page').waitFor()
  await goTo(page, at)
}

/** Opens a row with Enter, held until it repeats. Returns what else that has pressed: nothing, if all is well. */
export async function openByKey(row: Locator): Promise<string[]> {
  const page = row.page()
  await page.evaluate(`pressed = []; addEventListener('click', ({ target }) => pressed.push(target.outerHTML), true)`)
  await row.focus()
  await page.keyboard.down('Enter')
  await page.locator('dialog[open] :focus').waitFor()
  await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  return page.evaluate<string[]>('pressed')
}

let shared: Promise<Site> | undefined

async function sharedSite(): Promise<Site> {
  if (shared) return shared
  shared = startSite()
  try {
    const site = await shared
    keep(async () => {
      shared = undefined
      await site.stop()
    })
    return site
  } catch (error) {
    shared = undefined
    throw error
  }
}

let plants = 0

/** Adds a plant to the site, in a new tenant. */
async function withPlant<P>(site: Site, build: Build<P>): Promise<ConsoleUnderTest<P>> {
  const slug = `plant-${++plants}`
  const operator = createClient({ url: site.url, token: OPERATOR_TOKEN })
  const { admin_key } = await operator.call('createTenant', { body: { slug } })
  return { ...site, slug, adminKey: admin_key, plant: await build(site.url, admin_key) }
}

function forSuite<P>(build: Build<P>): ConsoleUnderTest<P> {
  const console = {} as ConsoleUnderTest<P>
  before(async () => {
    Object.assign(console, await withPlant(await sharedSite(), build))
  })
  afterEach(() => console.closePages?.())
  return console
}

/** For a suite: builds a plant before its tests, and closes the pages of each test when it ends. */
export const consoleForSuite = (): ConsoleUnderTest => forSuite(buildPlant)

export const consoleWithMemories = (): ConsoleUnderTest<PlantWithMemories> => forSuite(buildPlantWithMemories)

export const startConsole = async (): Promise<ConsoleUnderTest<PlantWithMemories>> =>
  withPlant(await startSite(), buildPlantWithMemories)

async function startSite(): Promise<Site> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-console-'))
  const settings = { DATA_DIR: folder, LOG_LEVEL: 'warn', OPERATOR_TOKEN }
  let [service, browser]: [RunningProcess, Browser] = await Promise.all([startProcess(settings), startBrowser()])
  const { url } = service

  const newContext = async (options: BrowserContextOptions): Promise<BrowserContext> => {
    // Reduced motion, because animations are painted sixty times a second by a processor that the tests need.
    const context = await browser.newContext({
      viewport: SCREEN,
      reducedMotion: 'reduce',
      ...options,
    })
    // Generous for a busy machine; a wait ends as soon as its condition holds.
    context.setDefaultTimeout(90_000)
    if (DELAY_MS > 0)
      await context.route('**/v1/**', async (route) => {
        await setTimeout(Math.random() ** 2 * DELAY_MS)
        // The page may have given up meanwhile.
        await route.continue().catch(() => undefined)
      })
    return context
  }
  // A page in its own context costs three times the CPU: a process, a connection and compiled code that others share. A
  // new tab costs half as much again, so the first page of each test is the same tab. What the previous test left in it
  // goes when the next one opens its address.
  const usual = await newContext({})
  const newTab = async (): Promise<Page> => {
    const page = await usual.newPage()
    await page.goto(`${url}/healthz`)
    return page
  }
  let tab = await newTab()
  let isTaken = false

  const newPage = async (options: BrowserContextOptions = { viewport: SCREEN }): Promise<Page> => {
    const { viewport, ...others } = options
    if (!viewport || Object.keys(others).length > 0) return (await newContext(options)).newPage()
    if (!isTaken) {
      isTaken = true
      // A tab that crashed, or that a test has closed, fails no other test.
      await tab.evaluate('sessionStorage.clear()').catch(async () => (tab = await newTab()))
      await tab.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await tab.setViewportSize(viewport)
      return tab
    }
    const page = await usual.newPage()
    if (viewport !== SCREEN) await page.setViewportSize(viewport)
    return page
  }

  const open: Site['open'] = async (at = '', options) => {
    const page = await newPage(options)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      // The browser also logs requests that the service refuses; whether a refusal is expected is up to the test.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    await page.goto(`${url}/console${at}`)
    return { page, complaints }
  }

  return {
    url,
    open,
    async signIn(key, at, options) {
      const opened = await open(at, options)
      await opened.page.getByLabel('API key').fill(key)
      await opened.page.keyboard.press('Enter')
      await opened.page.locator('.shell').waitFor()
      return opened
    },
    async signInAsOperator(at) {
      const opened = await open(at)
      await opened.page.getByRole('button', { name: 'Operator' }).click()
      await opened.page.getByLabel('Operator token').fill(OPERATOR_TOKEN)
      await opened.page.keyboard.press('Enter')
      await opened.page.locator('.shell').waitFor()
      return opened
    },
    async restart(whileAway) {
      await service.stop()
      try {
        await whileAway()
      } finally {
        // Other files share the service: one failed test must not become all of theirs.
        service = await startProcess({ ...settings, PORT: new URL(url).port })
      }
    },
    async closePages() {
      const contexts = browser.contexts().filter((context) => context !== usual)
      const pages = usual.pages().filter((page) => page !== tab)
      await Promise.all([...contexts, ...pages].map((one) => one.close()))
      tab.removeAllListeners()
      await tab.unrouteAll({ behavior: 'ignoreErrors' })
      isTaken = false
    },
    async stop() {
      await browser.close()
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
