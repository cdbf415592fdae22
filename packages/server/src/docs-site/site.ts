// /docs: the guides and the reference in one site, offline. `GET /` leads people here and programs to openapi.json.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { once, PAGE_HEADERS, wantsHtml, type Page } from '../http/page.ts'
import {
  findGuides,
  guidesFolder,
  imagesOf,
  onThisPage,
  renderGuide,
  sectionsOf,
  type Guide,
  type GuideGroup,
} from './guides.ts'
import { escapeHtml, firstSentence } from './html.ts'
import { layout, navigation } from './layout.ts'
import { reference } from './reference.ts'
import { operationsOf, type Spec } from './spec.ts'

const ASSETS = path.resolve(import.meta.dirname, '../../assets/docs')
const HTML = 'text/html; charset=utf-8'

const LINKS = {
  name: 'Sensorium',
  openapi: '/openapi.json',
  documentation: '/docs',
  token: '/v1/auth/token',
  health: '/healthz',
}

const root: Page = {
  path: '/',
  show: async (accept) =>
    wantsHtml(accept)
      ? {
          status: 302,
          type: HTML,
          headers: { location: '/docs', vary: 'accept' },
          body: '<a href="/docs">Documentation</a>',
        }
      : { headers: { vary: 'accept', link: '</openapi.json>; rel="service-desc"' }, body: JSON.stringify(LINKS) },
}

/** Removes Markdown syntax, which nobody searches for. */
const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')

function home(groups: readonly GuideGroup[], spec: Spec): string {
  const cards = groups
    .flatMap(({ guides }) => guides)
    .map((guide) => {
      const summary = plain(guide.about) || firstSentence(plain(sectionsOf(guide)[0]!.text)).slice(0, 140)
      return `<a class="card" href="/docs/${guide.name}"><b>${escapeHtml(guide.title)}</b><span>${escapeHtml(summary)}</span></a>`
    })
  return `<h1>Sensorium</h1><p class="lead">Events in, one durable mailbox for each agent, and a memory beside it.</p>${cards.length > 0 ? `<h2 id="guides">Guides</h2><div class="cards">${cards.join('')}</div>` : ''}${reference(spec)}`
}

const MISSING =
  '<h1>No such page</h1><p class="lead">The documentation has no page at this address.</p><p>Go to the <a href="/docs">beginning of the documentation</a>, or search above.</p>'

/** Returns the search index: operations, then every section of every guide. */
function searchIndex(groups: readonly GuideGroup[], spec: Spec): object[] {
  const operations = operationsOf(spec).map(({ method, path: url, operation }) => ({
    kind: method.toUpperCase(),
    title: operation.summary,
    href: `/docs#${operation.operationId}`,
    text: plain(`${url} ${operation.operationId} ${operation.description}`),
  }))
  const sections = groups
    .flatMap(({ guides }) => guides)
    .flatMap((guide) =>
      sectionsOf(guide).map(({ title, anchor, text }) => ({
        kind: guide.title,
        title: plain(title),
        href: `/docs/${guide.name}${anchor === '' ? '' : `#${anchor}`}`,
        text: plain(text),
      })),
    )
  return [...operations, ...sections]
}

export function makeDocsSite(spec: () => Spec): Page[] {
  const folder = guidesFolder()
  const groups = folder === null ? [] : findGuides(folder)
  const all = groups.flatMap(({ guides }) => guides)

  const page = (at: string, type: string, make: () => string | Promise<string>): Page => {
    const text = once(make)
    return { path: at, show: async () => ({ type, headers: PAGE_HEADERS, body: await text() }) }
  }
  const guidePage = (guide: Guide): Page =>
    page(`/docs/${guide.name}`, HTML, () =>
      layout(
        guide.title,
        navigation(groups, spec(), guide.name),
        `<article>${renderGuide(guide, folder!, all)}</article>${onThisPage(guide)}`,
      ),
    )
  const missing = once(() => layout('No such page', navigation(groups, spec(), ''), MISSING))
  const asset = (name: string, type: string): Page =>
    page(`/docs/${name}`, type, () => readFile(path.join(ASSETS, name), 'utf8'))

  return [
    root,
    {
      ...page('/docs', HTML, () => layout('Documentation', navigation(groups, spec(), ''), home(groups, spec()))),
      showMissing: async () => ({ status: 404, type: HTML, headers: PAGE_HEADERS, body: await missing() }),
    },
    asset('site.css', 'text/css; charset=utf-8'),
    asset('icon.svg', 'image/svg+xml'),
    asset('site.js', 'text/javascript; charset=utf-8'),
    page('/docs/search.json', 'application/json', () => JSON.stringify(searchIndex(groups, spec()))),
    ...all.map(guidePage),
    ...(folder === null ? [] : imagesOf(folder)).map(({ name, file, type }) => ({
      path: `/docs/images/${name}`,
      // Not cached: half a megabyte that few people request.
      show: async () => ({ type, headers: PAGE_HEADERS, body: await readFile(file) }),
    })),
  ]
}
