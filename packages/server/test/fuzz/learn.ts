// What the attacker learns from responses: ids that exist, paths of resources, and signing secrets.
import type { Asked, Tools } from './requests.ts'
import type { WireReply } from './wire.ts'

/** How many values of a kind are remembered; older ones are dropped. */
const MOST_KNOWN = 100
const MOST_LEARNED_BYTES = 20_000
const ID = /\b(?:agt|key|int|chn|mbr|fed|dlv|mem|rel|whk|cnr|adm)_[0-9a-z]{26}\b/g

/** `templates` are the paths of the document that have more than one parameter. */
export function learn(tools: Tools, templates: readonly string[], { url, method }: Asked, reply: WireReply): void {
  if (reply.status >= 300 || reply.body.length > MOST_LEARNED_BYTES) return
  const text = reply.body.toString()
  const listsDead = method === 'GET' && url.startsWith('/v1/delivery/dlq')
  for (const [id] of text.matchAll(ID)) {
    const kind = id.slice(0, 3)
    keep(tools.known, kind, id)
    if (listsDead && kind === 'dlv') keep(tools.known, 'dead', id)
  }
  if (reply.status !== 201 || method !== 'POST' || !text.startsWith('{')) return
  const made = JSON.parse(text) as Record<string, unknown>
  learnPath(tools, templates, url.split('?')[0]!, made)
  learnWebhook(tools, made)
  learnMemory(tools, made)
}

function keep(known: Map<string, string[]>, kind: string, value: string): void {
  const values = known.get(kind) ?? []
  if (!values.includes(value)) known.set(kind, [value, ...values].slice(0, MOST_KNOWN))
}

// A resource created under /agents/a/keys is found under /agents/a/keys/k: the rest of the template is filled with ids
// from the response.
function learnPath({ paths }: Tools, templates: readonly string[], url: string, made: Record<string, unknown>): void {
  const parts = url.split('/')
  for (const template of templates) {
    const wanted = template.split('/')
    if (wanted.length <= parts.length) continue
    if (!parts.every((part, i) => part === wanted[i] || (wanted[i]!.startsWith('{') && part !== ''))) continue
    const rest = wanted.slice(parts.length).map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1]
      return name === undefined ? part : (made[name] ?? made['id'])
    })
    if (rest.every((part) => typeof part === 'string'))
      keep(paths, template, [...parts, ...rest.map((part) => encodeURIComponent(part as string))].join('/'))
  }
}

function learnWebhook({ webhooks }: Tools, { url, signing_secret: secret }: Record<string, unknown>): void {
  if (typeof url !== 'string' || typeof secret !== 'string') return
  webhooks.unshift({ path: new URL(url).pathname, secret })
  webhooks.length = Math.min(webhooks.length, MOST_KNOWN)
}

function learnMemory({ mergeable }: Tools, { id, agent_id, scope }: Record<string, unknown>): void {
  if (typeof id === 'string' && id.startsWith('mem_')) keep(mergeable, `${String(agent_id)} ${String(scope)}`, id)
}
