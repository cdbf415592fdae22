// Reduces a GitHub event to what an agent needs. Pure, and linear in the body.
//
// A body repeats the whole repository, and a dozen API URLs for every person in it: of 20 kB, one or two say what
// happened. What is kept stays at the path where GitHub has it, so a filter on the body also works on the result.

/** Deeper than this is not needed to know what happened: `pull_request.head.ref`, `commits[0].author.name`. */
const MAX_DEPTH = 3
const MAX_ITEMS = 20
const MAX_TEXT = 8_192

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

// API URLs, ids that duplicate readable ones, and blocks that say nothing about the event.
const isNoise = (name: string): boolean =>
  name === 'url' ||
  (name.endsWith('_url') && name !== 'html_url') ||
  ['node_id', '_links', 'reactions', 'permissions', 'installation', 'enterprise', 'performed_via_github_app'].includes(
    name,
  )

const pick = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.filter((name) => from[name] != null).map((name) => [name, from[name]]))

const REPOSITORY = ['full_name', 'html_url', 'private', 'default_branch']

function compact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT).toWellFormed()}…` : value
  // The items of a list count as deep as the list itself.
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => compact(item, depth) ?? null)
  if (!isObject(value)) return value ?? undefined
  if (typeof value['login'] === 'string') return pick(value, ['login'])
  if (typeof value['full_name'] === 'string') return pick(value, REPOSITORY)
  if (depth >= MAX_DEPTH) return undefined
  const kept: Json = {}
  for (const [name, part] of Object.entries(value)) {
    const shown = isNoise(name) ? undefined : compact(part, depth + 1)
    if (shown !== undefined) kept[name] = shown
  }
  return kept
}

export const compactGithub = (body: unknown): unknown => compact(body, 0)
