// Search, unfolding what a link points at, copying code and trying an operation. Everything works without it but these.
const $ = (selector) => document.querySelector(selector)

document.documentElement.classList.add('js')
for (const code of document.querySelectorAll('pre code'))
  code.textContent = code.textContent.replaceAll('http://localhost:8080', location.origin)

// ---- code can be copied

async function copy(button, code) {
  await navigator.clipboard.writeText(code.textContent)
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = 'Copy'), 2_000)
}

/** A browser has a clipboard on https and on localhost only. */
if (navigator.clipboard)
  for (const code of document.querySelectorAll('pre code')) {
    const box = Object.assign(document.createElement('div'), { className: 'copied' })
    const button = Object.assign(document.createElement('button'), { className: 'copy', textContent: 'Copy' })
    button.type = 'button'
    button.addEventListener('click', () => copy(button, code))
    code.parentElement.replaceWith(box)
    box.append(code.parentElement, button)
  }

// ---- what is wider than its place can be reached with the keyboard, to be scrolled

const scrollers = document.querySelectorAll('pre, .scroll, aside')
const widths = new ResizeObserver((seen) => {
  for (const { target } of seen)
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0
    else target.removeAttribute('tabindex')
})
for (const each of scrollers) widths.observe(each)

// ---- what the address points at is unfolded

function unfold() {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null
  if (target instanceof HTMLDetailsElement) target.open = true
  target?.scrollIntoView()
  const menu = $('#menu')
  menu.checked = false
}
addEventListener('hashchange', unfold)
unfold()
for (const link of document.querySelectorAll('nav a, #found a'))
  link.addEventListener('click', () => setTimeout(unfold))

// ---- search

const box = $('#search')
const found = $('#found')
let index

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

/** Every word must be there; a word in a title is worth more than one in a text. */
function rank(entry, wanted) {
  const title = entry.title.toLowerCase()
  const text = entry.text.toLowerCase()
  let score = 0
  for (const word of wanted) {
    if (title.includes(word)) score += title.startsWith(word) ? 12 : 8
    else if (text.includes(word)) score += 1
    else return 0
  }
  return score
}

function snippet(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
  return `${at > 0 ? '…' : ''}${text.slice(at, at + 110)}${text.length > at + 110 ? '…' : ''}`
}

async function search() {
  index ??= await fetch('/docs/search.json').then((response) => response.json())
  const wanted = words(box.value)
  found.hidden = wanted.length === 0
  const best = index
    .map((entry) => ({ entry, score: wanted.length > 0 ? rank(entry, wanted) : 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 12)
  found.replaceChildren(...best.map(({ entry }) => result(entry, wanted)))
  if (best.length === 0) found.append(Object.assign(document.createElement('p'), { textContent: 'Nothing found.' }))
}

function result(entry, wanted) {
  const link = Object.assign(document.createElement('a'), { href: entry.href })
  const hint = document.createElement('small')
  hint.textContent = `${entry.kind} · ${snippet(entry.text, wanted[0])}`
  link.append(entry.title, hint)
  link.addEventListener('click', () => {
    found.hidden = true
    setTimeout(unfold)
  })
  return link
}

box.addEventListener('input', search)
box.addEventListener('keydown', (event) => {
  const links = [...found.querySelectorAll('a')]
  const at = links.findIndex((link) => link.classList.contains('chosen'))
  if (event.key === 'Escape') found.hidden = true
  else if (event.key === 'Enter') (links[at] ?? links[0])?.click()
  else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    links[at]?.classList.remove('chosen')
    const next = links[(at + (event.key === 'ArrowDown' ? 1 : -1) + links.length) % links.length]
    next?.classList.add('chosen')
    next?.scrollIntoView({ block: 'nearest' })
  }
})
addEventListener('click', (event) => {
  if (!event.target.closest('.search')) found.hidden = true
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return
  event.preventDefault()
  box.focus()
})

// ---- try it

const tokens = [...document.querySelectorAll('.token')]
for (const field of tokens)
  field.addEventListener('input', () => tokens.forEach((other) => other !== field && (other.value = field.value)))

/** A key is exchanged first; it is kept nowhere but in the field. */
async function bearer(given) {
  if (!given.startsWith('ak_live_')) return given
  const body = JSON.stringify({ api_key: given })
  const response = await fetch('/v1/auth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer.access_token
}

async function requestOf(form) {
  let url = form.dataset.path
  const query = new URLSearchParams()
  for (const { name, value, dataset } of form.querySelectorAll('[data-in]')) {
    if (dataset.in === 'path') url = url.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '') query.set(name, value)
  }
  const headers = {}
  const token = form.querySelector('.token')?.value.trim()
  if (token) headers.authorization = `Bearer ${await bearer(token)}`
  const text = form.elements.body
  if (text) headers['content-type'] = text.dataset.media
  const init = { method: form.dataset.method, headers, ...(text ? { body: text.value } : {}) }
  return [query.size > 0 ? `${url}?${query}` : url, init]
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

let running

async function send(form) {
  running?.abort()
  running = new AbortController()
  const pre = document.createElement('pre')
  form.querySelector('output').replaceChildren(pre)
  pre.textContent = 'Waiting for the response…'
  try {
    const [url, init] = await requestOf(form)
    const response = await fetch(url, { ...init, signal: running.signal })
    const head = `${response.status} ${response.statusText}\n\n`
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      pre.textContent = head + pretty(await response.text())
      return
    }
    pre.textContent = head
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) pre.textContent += chunk
  } catch (error) {
    pre.textContent = `No response: ${error.message}`
  }
}

for (const form of document.querySelectorAll('.try'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form)
  })
