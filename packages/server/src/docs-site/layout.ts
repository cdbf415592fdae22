// The frame of every page: search, navigation, content. Styles and scripts are separate files, so that the content
// security policy can forbid inline ones.
import { escapeHtml } from './html.ts'
import type { GuideGroup } from './guides.ts'
import { tagAnchor } from './reference.ts'
import { operationsOf, type Spec } from './spec.ts'

export function navigation(groups: readonly GuideGroup[], spec: Spec, current: string): string {
  const guides = groups.map(
    ({ title, guides: own }) =>
      `<h2>${escapeHtml(title)}</h2>${own
        .map(
          ({ name, title: label }) =>
            `<a href="/docs/${name}"${name === current ? ' aria-current="page"' : ''}>${escapeHtml(label)}</a>`,
        )
        .join('')}`,
  )
  const all = operationsOf(spec)
  const tags = spec.tags.map(({ name }) => {
    const own = all.filter(({ operation }) => operation.tags[0] === name)
    return `<details><summary>${escapeHtml(name)}</summary><a href="/docs#${tagAnchor(name)}">About ${escapeHtml(name)}</a>${own
      .map(({ operation }) => `<a href="/docs#${operation.operationId}">${escapeHtml(operation.summary)}</a>`)
      .join('')}</details>`
  })
  return `${guides.join('')}<h2>API reference</h2>${tags.join('')}<a href="/docs#errors">Errors</a><a href="/docs#schemas">Schemas</a><a href="/openapi.json">openapi.json</a>`
}

export const layout = (title: string, nav: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeHtml(title)} · Sensorium</title><link rel="icon" href="/docs/icon.svg"><link rel="stylesheet" href="/docs/site.css"><script src="/docs/site.js" defer></script></head>
<body><header><a class="brand" href="/docs">Sensorium</a><div class="search"><input id="search" type="search" placeholder="Search guides and operations" aria-label="Search" autocomplete="off"><div id="found" hidden></div></div><input type="checkbox" id="menu"><label class="menu" for="menu">Menu</label></header>
<nav aria-label="Pages">${nav}</nav><main>${content}</main></body></html>`
