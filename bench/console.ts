// The console in Chromium: the size and time of the first load, how a list of 100,000 rows scrolls, what the live
// stream costs at 500 events a second, and whether memory stays flat. BENCH_SECONDS=600 watches memory for ten minutes.
//
// Frames are the browser's own and wait for the processor like everything else. On a machine that others use, run it as
// `chrt -r 10 npm run bench -- console`; child processes inherit the priority.
import { performance } from 'node:perf_hooks'
import type { Browser, Page } from 'playwright-core'
import { noBrowser, startBrowser } from '../packages/console/test/support/chromium.ts'
import { Connection, quantile } from './support/load.ts'
import { inParallel, steadily } from './support/far-ends.ts'
import { report } from './support/report.ts'
import { ADMIN_KEY, startService, type Service } from './support/servers.ts'
import { watchPage, type Frames, type PageWatch } from './support/watch-page.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60)
const ROWS = 100_000
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 500)
/** The parts to run: some of load, scroll, live. */
const PARTS = (process.env['BENCH_PARTS'] ?? 'load,scroll,live').split(',')
const LOADS = 7
const SCROLL_SECONDS = 10
const WHEEL_PIXELS = 40
const ROW_PIXELS = 36
const BATCH = 100
const SCOPES = ['send', 'receive', 'interests:write']
/** Memory grows while the first rows are being drawn; after this many seconds it should not. */
const WARM_SECONDS = 20
const SAMPLES = 10

const median = (values: number[]): number =>
  quantile(
    values.sort((a, b) => a - b),
    0.5,
  )

interface Row extends Record<string, unknown> {
  what: string
  measured: number
  limit: string
  holds: boolean
}

const row = (what: string, measured: number, limit: string, holds: boolean): Row => ({ what, measured, limit, holds })

async function signedIn(browser: Browser, service: Service, at: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(`http://127.0.0.1:${service.port}/console${at}`)
  await page.getByLabel('API key').fill(ADMIN_KEY)
  await page.keyboard.press('Enter')
  await page.locator('.shell').waitFor()
  return page
}

/** Returns the total size of these addresses for a client that accepts gzip. */
async function gzipped(addresses: Iterable<string>): Promise<number> {
  let bytes = 0
  for (const address of addresses) {
    const response = await fetch(address, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    bytes += Number(response.headers.get('content-length'))
  }
  return bytes
}

/** Each load has an empty cache. Measures until the key field has the focus, and from Enter to the overview. */
async function measureLoad(browser: Browser, service: Service): Promise<Row[]> {
  const loads: number[] = []
  const signIns: number[] = []
  let bytes = 0
  for (let i = 0; i < LOADS; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    const asked = new Set<string>()
    page.on('request', (request) => asked.add(request.url()))
    // A callback in the page takes the time: polling from here would notice it later.
    await page.addInitScript(
      'addEventListener("focusin", ({ target }) => { if (target.matches("input")) requestAnimationFrame(() => (globalThis.interactive ??= performance.now())) })',
    )
    await page.goto(`http://127.0.0.1:${service.port}/console`)
    await page.locator('input:focus').waitFor()
    loads.push(
      await page.evaluate<number>('new Promise((done) => requestAnimationFrame(() => done(globalThis.interactive)))'),
    )
    bytes = await gzipped(asked)
    await page.getByLabel('API key').fill(ADMIN_KEY)
    await page.evaluate(
      `globalThis.begun = performance.now()
      globalThis.signedIn = new Promise((done) => {
        const look = () => document.querySelector('.shell main h1') ? done(performance.now() - begun) : requestAnimationFrame(look)
        look()
      })
      null`,
    )
    await page.keyboard.press('Enter')
    signIns.push(await page.evaluate<number>('signedIn'))
    await context.close()
  }
  const median = (values: number[]): number =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    )
  return [
    row('first load, kB as gzip', bytes / 1000, '< 200', bytes < 200_000),
    row('first load to interactive, ms', median(loads), '< 800', median(loads) < 800),
    row('sign-in to the overview, ms', median(signIns), '< 800', median(signIns) < 800),
  ]
}

/** Creates dead letters through the API: events are published in batches, polled, and given up on. */
async function makeDeadLetters(service: Service, count: number): Promise<void> {
  const { id, token } = await service.agent(SCOPES)
  const interest = { event_type: 'com.bench.lost', filter_expression: null, priority: 0, enrichment_depth: 'none' }
  await service.call('POST', `/v1/agents/${id}/interests`, token, interest)
  const connections = Array.from({ length: 4 }, () => new Connection(service.port))
  await inParallel(Math.ceil(count / BATCH), connections.length, async (n) => {
    const connection = connections.pop()!
    const events = Array.from(
      { length: BATCH },
      (_, i) =>
        `{"specversion":"1.0","type":"com.bench.lost","source":"/bench","id":"lost-${n * BATCH + i}","subject":"row/${n * BATCH + i}","data":{"n":${i}}}`,
    )
    await connection.send({
      method: 'POST',
      path: '/v1/events',
      token,
      contentType: 'application/cloudevents-batch+json',
      body: `[${events.join(',')}]`,
    })
    const polled = await connection.send({ method: 'GET', path: `/v1/delivery/poll?limit=${BATCH}`, token })
    const { deliveries } = JSON.parse(polled.body.toString()) as { deliveries: { id: string }[] }
    await connection.send({
      method: 'POST',
      path: '/v1/delivery/nack',
      token,
      body: JSON.stringify({
        delivery_ids: deliveries.map((delivery) => delivery.id),
        dead_letter: true,
        reason: `batch ${n % 40} was lost`,
      }),
    })
    connections.push(connection)
  })
  for (const connection of connections) connection.close()
}

/** Scrolls by that many pixels in each frame, down and up again, for that many seconds. */
const scrolling = (pixels: number, seconds: number): string => `new Promise((done) => {
  const list = document.querySelector('.table.fill .scroll')
  const end = performance.now() + ${seconds * 1000}
  let by = ${pixels}
  const go = (now) => {
    if (now > end) return done(null)
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) by = -Math.abs(by)
    if (list.scrollTop === 0) by = Math.abs(by)
    list.scrollTop += by
    requestAnimationFrame(go)
  }
  requestAnimationFrame(go)
})`
/** Whether there is a row in the middle of the list; `also` can require that its text has arrived. */
const hasRows = (also: string): string => `(() => {
  const { left, top, width, height } = document.querySelector('.table.fill .scroll').getBoundingClientRect()
  return !!document.elementFromPoint(left + width / 2, top + height / 2)?.closest('[role=row]${also}')
})()`
const FULL = hasRows(':not([aria-busy])')
/** Jumps to a position, and returns how long it takes until its rows are drawn. */
const jump = (to: number): string => `new Promise((done) => {
  const begun = performance.now()
  document.querySelector('.table.fill .scroll').scrollTop = ${to}
  const look = () => ${FULL} ? done(performance.now() - begun) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})`

async function measureScroll(browser: Browser, service: Service): Promise<Row[]> {
  const started = performance.now()
  await makeDeadLetters(service, ROWS)
  console.log(`${ROWS} dead letters in ${Math.round((performance.now() - started) / 1000)} s`)
  const page = await signedIn(browser, service, '/dead-letters')
  await page
    .getByText(`${ROWS.toLocaleString('en')} dead letters`)
    .first()
    .waitFor()
  await page.getByRole('row').nth(5).waitFor()
  const watch = await watchPage(page)
  const name = `${ROWS.toLocaleString('en')} rows`
  const wheel = await watch.during(() => page.evaluate(scrolling(WHEEL_PIXELS, SCROLL_SECONDS)), FULL)
  const whole = Math.ceil((ROWS * ROW_PIXELS) / (60 * SCROLL_SECONDS))
  const dragged = await watch.during(() => page.evaluate(scrolling(whole, SCROLL_SECONDS)), hasRows(''))
  const jumps: number[] = []
  for (let i = 1; i <= 9; i++) jumps.push(await page.evaluate<number>(jump(((ROWS * i) / 10) * ROW_PIXELS)))
  await page.context().close()
  console.table({ wheel, dragged })
  const missed = (frames: Frames): number => (100 * frames.misses) / frames.count
  return [
    row(`${name} by the wheel, frames/s`, wheel.perSecond, '>= 50', wheel.perSecond >= 50),
    row('  frames without text, %', missed(wheel), '< 1', missed(wheel) < 1),
    row(
      `${name} dragged through in ${SCROLL_SECONDS} s, frames/s`,
      dragged.perSecond,
      '>= 50',
      dragged.perSecond >= 50,
    ),
    row('  frames without rows, %', missed(dragged), '< 1', missed(dragged) < 1),
    row('  from the jump to its rows, ms', median(jumps), '', true),
  ]
}

async function keepPublishing(service: Service, token: string, seconds: number): Promise<void> {
  const connections = Array.from({ length: 8 }, () => new Connection(service.port))
  let next = 0
  const run = `${process.pid}-${Math.round(performance.now())}`
  await steadily(PER_SECOND, seconds, (i) => {
    const body = `{"specversion":"1.0","type":"com.bench.reading.${i % 7}","source":"/bench","id":"live-${run}-${i}","subject":"pump/${i % 50}","data":{"celsius":${60 + (i % 40)}}}`
    void connections[next++ % connections.length]!.send({ method: 'POST', path: '/v1/events', token, body })
  })
  for (const connection of connections) connection.close()
}

interface Sample {
  at: number
  heapMb: number
  nodes: number
  listeners: number
}

async function sampleMemory(watch: PageWatch, seconds: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const started = performance.now()
  for (let i = 0; i <= SAMPLES; i++) {
    const due = (seconds * 1000 * i) / SAMPLES - (performance.now() - started)
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due))
    samples.push({ at: Math.round((performance.now() - started) / 1000), ...(await watch.memory()) })
  }
  return samples
}

const mean = (samples: readonly Sample[], of: (sample: Sample) => number): number =>
  samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length

async function measureLive(browser: Browser, service: Service): Promise<Row[]> {
  const { token } = await service.agent(SCOPES)
  const rows: Row[] = []
  for (const [name, at] of [
    ['the stream of events', '/events'],
    ['the overview', '/'],
  ] as const) {
    const page = await signedIn(browser, service, at)
    await page.getByText('live', { exact: true }).waitFor()
    const watch = await watchPage(page)
    const publishing = keepPublishing(service, token, SCROLL_SECONDS + 5)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const wait = `new Promise((done) => setTimeout(() => done(null), ${SCROLL_SECONDS * 1000}))`
    const frames = await watch.during(() => page.evaluate(wait))
    console.log(name, frames)
    await publishing
    rows.push(
      row(`${name} at ${PER_SECOND}/s, ms a frame, median`, frames.workP50, '< 16', frames.workP50 < 16),
      row(`  99th percentile`, frames.workP99, '', true),
      row(`  frames/s`, frames.perSecond, '>= 50', frames.perSecond >= 50),
    )
    await page.context().close()
  }
  const page = await signedIn(browser, service, '/events')
  const watch = await watchPage(page)
  const publishing = keepPublishing(service, token, WARM_SECONDS + SECONDS)
  await new Promise((resolve) => setTimeout(resolve, WARM_SECONDS * 1000))
  const samples = await sampleMemory(watch, SECONDS)
  await publishing
  console.table(samples)
  await page.context().close()
  const first = mean(samples.slice(0, 4), ({ heapMb }) => heapMb)
  const last = mean(samples.slice(-4), ({ heapMb }) => heapMb)
  return [
    ...rows,
    row(`memory at ${PER_SECOND}/s, first of ${SECONDS} s, MB`, first, '', true),
    row('  last, MB', last, 'within 10 %', last < first * 1.1),
  ]
}

if (noBrowser) {
  console.log(noBrowser)
  process.exit(0)
}
const service = await startService('sqlite', { LOG_LEVEL: 'warn' })
const browser = await startBrowser()
const rows: Row[] = []
if (PARTS.includes('load')) rows.push(...(await measureLoad(browser, service)))
if (PARTS.includes('live')) rows.push(...(await measureLive(browser, service)))
if (PARTS.includes('scroll')) rows.push(...(await measureScroll(browser, service)))
await browser.close()
await service.stop()
report('console', rows)
if (rows.some(({ holds }) => !holds)) process.exitCode = 1
