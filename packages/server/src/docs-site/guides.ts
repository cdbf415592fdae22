// The guides that docs/README.md lists, in its order: rendered on the first request, with links that stay in the site.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { anchorOf, escapeHtml } from './html.ts'

export interface Guide {
  /** A guide named `events` is served at `/docs/events`. */
  name: string
  title: string
  file: string
  /** What docs/README.md says about it; empty for the overview, which it does not list. */
  about: string
}

export interface GuideGroup {
  title: string
  guides: Guide[]
}

interface Section {
  /** In Markdown. */
  title: string
  /** 1 for what stands before the first heading. */
  depth: number
  anchor: string
  text: string
}

const HERE = import.meta.dirname
/** Inside the installed package, or else at the root of the repository. */
const PLACES = [path.resolve(HERE, '../../manual/docs'), path.resolve(HERE, '../../../../docs')]

/** Returns the folder of the guides, or null if they were not installed; the site then has the reference only. */
export const guidesFolder = (): string | null =>
  PLACES.find((place) => existsSync(path.join(place, 'README.md'))) ?? null

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? 'Guide'

/** `linked` is the address of the guide in docs/README.md: `events.md`, or `../packages/sdk/README.md`. */
function guideAt(folder: string, linked: string, about = ''): Guide | null {
  const file = path.resolve(folder, linked)
  if (!existsSync(file)) return null
  if (linked === '../README.md') return { name: 'overview', file, title: 'Overview', about }
  const name = path.basename(linked.replace(/\/README\.md$/, ''), '.md')
  return { name, file, title: titleOf(readFileSync(file, 'utf8')), about }
}

const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/**
 * A line `For those who …:` begins a group, and each line `- [file.md](file.md): …` is a guide in it; so is the README
 * of a package, which is served under the name of the package.
 */
export function findGuides(folder: string): GuideGroup[] {
  const groups: GuideGroup[] = []
  const overview = guideAt(folder, '../README.md')
  if (overview) groups.push({ title: 'Start', guides: [overview] })
  for (const line of readFileSync(path.join(folder, 'README.md'), 'utf8').split('\n')) {
    const group = /^For those who (.+):$/.exec(line)?.[1]
    if (group) groups.push({ title: capitalised(group), guides: [] })
    const [, linked, about = ''] = /^- \[[^\]]+\]\(((?:\.\.\/packages\/\w+\/)?[\w-]+\.md)\)(?:: (.+))?/.exec(line) ?? []
    const guide = linked ? guideAt(folder, linked, capitalised(about)) : null
    if (guide) groups.at(-1)?.guides.push(guide)
  }
  return groups.filter(({ guides }) => guides.length > 0)
}

const IMAGE_TYPES: Record<string, string> = { '.svg': 'image/svg+xml', '.png': 'image/png' }

export function imagesOf(folder: string): { name: string; file: string; type: string }[] {
  const images = path.join(folder, 'images')
  if (!existsSync(images)) return []
  return readdirSync(images)
    .filter((name) => path.extname(name) in IMAGE_TYPES)
    .map((name) => ({ name, file: path.join(images, name), type: IMAGE_TYPES[path.extname(name)]! }))
}

/** Returns where a link of a guide leads inside the site, or null if it leads to a file that is not shown here. */
function siteLink(href: string, { file }: Guide, folder: string, guides: readonly Guide[]): string | null {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href
  const [target = '', anchor] = href.split('#') as [string, string?]
  const full = path.resolve(path.dirname(file), target)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (full === path.join(folder, 'README.md')) return `/docs${hash}`
  if (path.basename(full) === 'openapi.json') return '/openapi.json'
  if (path.dirname(full) === path.join(folder, 'images')) return `/docs/images/${path.basename(full)}`
  const guide = guides.find((other) => other.file === full)
  return guide ? `/docs/${guide.name}${hash}` : null
}

/** A cell with more text than this keeps a least width, so that it never becomes a column of single words. */
const LONG_TEXT = 60
/** Code with more characters than this may be broken at a sign between its words. */
const LONG_CODE = 24

/** Lets long code be broken where its parts begin. Broken anywhere, a name is hard to recognise. */
const breakable = (html: string): string =>
  html.replace(/<code>([^<]+)<\/code>/g, (whole, code: string) =>
    code.length > LONG_CODE ? `<code>${code.replace(/[/_.,](?=\w|\{)/g, '$&<wbr>')}</code>` : whole,
  )

function cell({ text, header, align }: Tokens.TableCell, inner: string): string {
  // The head of a column without a name is no head: a screen reader would announce an empty one.
  const name = header && inner !== '' ? 'th' : 'td'
  const placed = align ? ` align="${align}"` : ''
  return `<${name}${placed}${text.length > LONG_TEXT ? ' class="long"' : ''}>${breakable(inner)}</${name}>`
}

/** Renders a link that leads out of the site: its text, and where the file is unless the text says that already. */
function inRepository(inner: string, href: string, { file }: Guide, folder: string): string {
  const at = path
    .relative(path.dirname(folder), path.resolve(path.dirname(file), href.split('#')[0]!))
    .replaceAll(path.sep, '/')
  return [at, `${at}/`, at.replace(/\/README\.md$/, '')].includes(inner)
    ? inner
    : `${inner} (<code>${escapeHtml(at)}</code> in the repository)`
}

export function renderGuide(guide: Guide, folder: string, guides: readonly Guide[]): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${escapeHtml(anchorOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const to = siteLink(href, guide, folder, guides)
        const inner = this.parser.parseInline(tokens)
        return to === null ? inRepository(inner, href, guide, folder) : `<a href="${escapeHtml(to)}">${inner}</a>`
      },
      image({ href, text }) {
        const to = siteLink(href, guide, folder, guides)
        return to === null ? escapeHtml(text) : `<img src="${escapeHtml(to)}" alt="${escapeHtml(text)}">`
      },
      tablecell(token) {
        return cell(token, this.parser.parseInline(token.tokens))
      },
      // Guides are plain Markdown: text that looks like HTML is shown as it is written.
      html: ({ text }) => escapeHtml(text),
    },
  })
  return marked
    .parse(readFileSync(guide.file, 'utf8'), { async: false })
    .replaceAll('<table>', '<div class="scroll"><table>')
    .replaceAll('</table>', '</table></div>')
}

/** From so many sections on, a guide lists them beside its text. */
const LISTED_FROM = 3

/** Renders links to the sections of a guide; nothing if there are few. */
export function onThisPage(guide: Guide): string {
  const sections = sectionsOf(guide).filter(({ depth }) => depth === 2)
  if (sections.length < LISTED_FROM) return ''
  const links = sections.map(
    ({ title, anchor }) => `<a href="#${escapeHtml(anchor)}">${new Marked().parseInline(title, { async: false })}</a>`,
  )
  return `<aside aria-label="On this page"><h2>On this page</h2>${links.join('')}</aside>`
}

/** Returns the text of a token: the cells of a table, or the code between fences. */
function textOf(token: Token): string {
  if (token.type === 'code') return token.text as string
  if (token.type !== 'table') return token.raw
  const { header, rows } = token as Tokens.Table
  return [header, ...rows].map((cells) => cells.map(({ text }) => text).join(' ')).join(', ')
}

/** Splits a guide into sections by heading, for the search. */
export function sectionsOf({ file, title }: Guide): Section[] {
  const sections: Section[] = [{ title, depth: 1, anchor: '', text: '' }]
  for (const token of new Marked().lexer(readFileSync(file, 'utf8'))) {
    if (token.type === 'heading' && token.depth > 1)
      sections.push({ title: token.text, depth: token.depth, anchor: anchorOf(token.text), text: '' })
    else if (token.type !== 'heading') sections.at(-1)!.text += `${textOf(token)} `
  }
  return sections.map((section) => ({ ...section, text: section.text.replace(/\s+/g, ' ').trim() }))
}
