// Reduces a GitHub event to what an agent needs. Pure, and done in a few milliseconds whatever the body is.
//
// A body repeats the whole repository, and a dozen API URLs for every person in it: of 20 kB, one or two say what
// happened. What is kept stays at the path where GitHub has it, so a filter on the body also works on the result.
import { firstNames } from '../../kernel/first-names.ts'

/** Deeper than this is not needed to know what happened: `pull_request.head.ref`, `commits[0].author.name`. */
const MAX_DEPTH = 3
const MAX_ITEMS = 20
const MAX_TEXT = 8_192
/** Members and items that are looked at. A push of 20 commits that changed many files has some 2,000. */
const MAX_VALUES = 5_000

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

export function compactGithub(body: unknown): unknown {
  let left = MAX_VALUES

  function compact(value: unknown, depth: number): unknown {
    if (typeof value === 'string')
      return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT).toWellFormed()}…` : value
    // The items of a list count as deep as the list itself.
    if (Array.isArray(value)) return listOf(value, depth)
    if (!isObject(value)) return value ?? undefined
    if (typeof value['login'] === 'string') return pick(value, ['login'])
    if (typeof value['full_name'] === 'string') return pick(value, REPOSITORY)
    if (depth >= MAX_DEPTH) return undefined
    const kept: [name: string, shown: unknown][] = []
    for (const name of firstNames(value)) {
      if (left-- <= 0) break
      const shown = isNoise(name) ? undefined : compact(value[name], depth + 1)
      if (shown !== undefined) kept.push([name, shown])
    }
    // An assignment would take a member called `__proto__` for the prototype.
    return Object.fromEntries(kept)
  }

  function listOf(items: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = []
    for (const item of items.slice(0, MAX_ITEMS)) {
      if (left-- <= 0) break
      kept.push(compact(item, depth) ?? null)
    }
    return kept
  }

  return compact(body, 0)
}
