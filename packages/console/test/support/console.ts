// A real service with the plant in it, and a browser that looks at its console.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
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
  /** A page of its own, signed out. */
  open(at?: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** The same, signed in. */
  signIn(key: string, at?: string, options?: BrowserContextOptions): Promise<OpenPage>
  /** Stops the service and starts it again on the same port and data. */
  restart(whileAway: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export async function startConsole(env: Record<string, string> = {}): Promise<ConsoleUnderTest> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-console-'))
  const settings = { DATA_DIR: folder, LOG_LEVEL: 'warn', BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, OPERATOR_TOKEN, ...env }
  let service = await startProcess(settings)
  const { url } = service
  const [plant, browser]: [Plant, Browser] = await Promise.all([buildPlant(url, ADMIN_KEY), startBrowser()])

  const open: ConsoleUnderTest['open'] = async (at = '', options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    // A busy machine takes its time; a wait that is over goes on at once.
    context.setDefaultTimeout(90_000)
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
    async stop() {
      await browser.close()
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
