// The browser of the tests: Debian's Chromium without a window, or another one on the machine. Installed by apt as root
// if there is none.
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { installPackages } from '../../../server/test/support/debian-packages.ts'

const PLACES = [
  // First, because a browser with a window lays out and paints its address bar too, unseen: half of the CPU of the
  // browser's own process, and a fifth of all that these tests take.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

const installed = (): string | null => PLACES.find((place) => existsSync(place)) ?? null

function install(): string | null {
  for (const name of ['chromium-headless-shell', 'chromium'])
    if (installed() === null) installPackages(name, 'fonts-liberation')
  return installed()
}

const program = installed() ?? install()

/** For the `skip` of a test: false where a browser is available. On a build machine a missing browser is a failure. */
export const noBrowser: string | false = program !== null ? false : 'Chromium is missing (Debian package chromium)'
if (noBrowser && process.env['CI'] === 'true') throw new Error(`${noBrowser}: required because CI=true`)

/**
 * The features that Playwright switches off, because only the last list counts, and the pages that Chromium loads for
 * the address bar of each window, which took more CPU than the rest of its start.
 */
const SWITCHED_OFF = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
]

export function startBrowser(): Promise<Browser> {
  if (program === null) throw new Error(String(noBrowser))
  return chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      // Fewer processes, which would otherwise be started again for every page.
      '--process-per-site',
      '--in-process-gpu',
      '--no-zygote',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${SWITCHED_OFF.join(',')}`,
    ],
  })
}
