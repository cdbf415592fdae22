// A real service with the plant in it, and a browser that looks at its console.
import { after, afterEach, before } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { startProcess, type RunningProcess } from '../../../server/test/support/process.ts'
import { startBrowser } from './chromium.ts'
import { buildPlant, type Plant } from './plant.ts'

export const ADMIN_KEY = 'ak_live_0123456789abcdefghijABCDEFGHIJ01'
export const OPERATOR_TOKEN = 'operator-token-for-tests'

export interface OpenPage {
  page: Page
  /** What the page said that it should not have: errors, and what its policy forbade. */
  complaints: string[]
}

export interface ConsoleUnderTest {
  url: string
  plant: Plant
  service(): RunningProcess
  /** A page, signed out. Pages without options share what a browser keeps, but not who is signed in. */
  open(at?: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** The same, signed in. */
  signIn(key: string, at?: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** Stops the service and starts it again on the same port and data. */
  restart(whileAway: () => Promise<void>): Promise<void>
  closePages(): Promise<void>
  stop(): Promise<void>
}

/** For a suite: started before its tests and stopped after them; the pages of a test are closed when it ends. */
export function consoleForSuite(): ConsoleUnderTest {
  const console = {} as ConsoleUnderTest
  before(async () => {
    Object.assign(console, await startConsole())
  })
  afterEach(() => console.closePages?.())
  after(() => console.stop?.())
  return console
}

export async function startConsole(env: Record<string, string> = {}): Promise<ConsoleUnderTest> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-console-'))
  const settings = { DATA_DIR: folder, LOG_LEVEL: 'warn', BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, OPERATOR_TOKEN, ...env }
  let service = await startProcess(settings)
  const { url } = service
  const [plant, browser]: [Plant, Browser] = await Promise.all([buildPlant(url, ADMIN_KEY), startBrowser()])

  const newContext = async (options: BrowserContextOptions): Promise<BrowserContext> => {
    // What moves is painted sixty times a second, by a processor that tests need.
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      ...options,
    })
    // A busy machine takes its time; a wait that is over goes on at once.
    context.setDefaultTimeout(90_000)
    return context
  }
  // A context of its own costs a page three times the CPU: a process, a connection and compiled code that others have.
  // The process lives as long as some page of the site does, so one stays that does nothing.
  const shared = await newContext({})
  const idle = await shared.newPage()
  await idle.goto(`${url}/healthz`)

  const open: ConsoleUnderTest['open'] = async (at = '', options) => {
    const context = options === undefined ? shared : await newContext(options)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      // A request that the service refuses is said by the browser too; whether it should be, its test knows.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    await page.goto(`${url}/console${at}`)
    return { page, complaints }
  }

  return {
    url,
    plant,
    service: () => service,
    open,
    async signIn(key, at, options) {
      const opened = await open(at, options)
      await opened.page.getByLabel('API key').fill(key)
      await opened.page.keyboard.press('Enter')
      await opened.page.locator('.shell').waitFor()
      return opened
    },
    async restart(whileAway) {
      await service.stop()
      await whileAway()
      service = await startProcess({ ...settings, PORT: new URL(url).port })
    },
    async closePages() {
      const contexts = browser.contexts().filter((context) => context !== shared)
      const pages = shared.pages().filter((page) => page !== idle)
      await Promise.all([...contexts, ...pages].map((one) => one.close()))
    },
    async stop() {
      await browser.close()
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
