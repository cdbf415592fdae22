// Finds the memories that hold a substring, without reading all of them.
//
// Every live memory has a set of grams: a hash of each one, two and three characters that follow each other in its
// folded title or content, and of each audience that may see it. A memory that holds the text holds all grams of the
// text, so the index answers the few that can, among those the caller may see; whether they do is then read in their
// text. A hash that two grams share, or an audience, only adds a candidate: what is seen is decided by see.ts, what is
// held by the text itself. The tenant is part of every hash, so that no tenant's memories make the search of another
// longer.
//
// A text with very many grams has its characters instead, in a few thousand groups, and a mark that says so; the index
// is asked for both kinds at once.
//
// One and two characters are grams too, because whole words of Chinese and Japanese are that short.
//
// Tried and rejected: FTS5 with the trigram tokenizer (nothing shorter than three characters, no audiences), an
// expression index on PostgreSQL that makes the grams in SQL (quadratic on text beyond ASCII).
import type { Condition, Viewer, Visibility } from '../see.ts'

const GRAM = 3
/**
 * A text with more grams than this is found by the groups of its characters: 32,768 different characters have 98,000
 * grams, which took the embedded store half a second to write. English of any length has fewer than 7,000.
 */
const MAX_GRAMS = 8_192
/** Of a long Chinese text, with 2,500 different characters, half of the groups are taken. */
const GROUPS = 4_096
/** A long text is looked up by this many of its grams, spread over it; the rest is for the check of the text. */
const MAX_ASKED = 8

// FNV-1a, a code point at a time, with the bits mixed once more at the end: neighbours must not share their hashes.
const mixIn = (hash: number, point: number): number => Math.imul(hash ^ point, 0x01000193)
const finish = (hash: number): number => {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) | 0
}

function pointsOf(text: string): number[] {
  const points: number[] = []
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!
    points.push(point)
    if (point > 0xffff) i++
  }
  return points
}

/** What the hashes of a tenant begin with. */
export const seedOf = (tenantId: string): number => pointsOf(tenantId).reduce(mixIn, 0x811c9dc5)

/** Adds the grams of a text until there are too many; returns whether all of them are there. */
function addGrams(grams: Set<number>, seed: number, points: readonly number[]): boolean {
  for (let i = 0; i < points.length; i++) {
    let hash = seed
    for (let j = i; j < i + GRAM && j < points.length; j++) grams.add(finish((hash = mixIn(hash, points[j]!))))
    if (grams.size > MAX_GRAMS) return false
  }
  return true
}

const MANY_SEED = 0x2545f491

/** The mark of a text that is found by its characters. */
const manyMark = (seed: number): number => finish(mixIn(seed, MANY_SEED))

/** The group that a character falls into. */
const groupOf = (seed: number, point: number): number =>
  finish(mixIn(mixIn(seed, MANY_SEED), 1 + ((finish(mixIn(seed, point)) >>> 0) % GROUPS)))

/** The grams of the folded texts of a memory; where they are too many, the groups of its characters instead. */
export function gramsOf(seed: number, ...texts: string[]): Set<number> {
  const points = texts.map(pointsOf)
  const grams = new Set<number>()
  if (points.every((text) => addGrams(grams, seed, text))) return grams
  const groups = new Set([manyMark(seed)])
  for (const text of points) for (const point of text) groups.add(groupOf(seed, point))
  return groups
}

const audience = (seed: number, kind: 'agent' | 'team' | 'everybody', id = ''): number =>
  finish(pointsOf(`${kind} ${id}`).reduce(mixIn, seed))

type Audience = Pick<Visibility, 'agent_id' | 'team_id' | 'scope'>

/** Who may see a memory. */
export function audiencesOf({ agent_id, team_id, scope }: Audience, seed: number): number[] {
  const wider =
    scope === 'institutional'
      ? [audience(seed, 'everybody')]
      : scope === 'team'
        ? [audience(seed, 'team', team_id!)]
        : []
  return [audience(seed, 'agent', agent_id), ...wider]
}

/** One of these must be a memory's, for the viewer to see it; none at all means that it sees every one. */
export function audiencesFor({ kind, id, teamId }: Viewer, seed: number): number[] {
  if (kind === 'org_admin') return []
  return [
    audience(seed, 'agent', id),
    audience(seed, 'everybody'),
    ...(teamId === null ? [] : [audience(seed, 'team', teamId)]),
  ]
}

/** The grams that a folded text is looked up by: itself while it is one gram, else grams of full length. */
function askedGrams(needle: string, seed: number): number[] {
  const points = pointsOf(needle)
  if (points.length <= GRAM) return [finish(points.reduce(mixIn, seed))]
  const last = points.length - GRAM
  const step = Math.max(1, last / (MAX_ASKED - 1))
  const starts = new Set([last])
  for (let at = 0; at <= last; at += step) starts.add(Math.floor(at))
  return [...new Set([...starts].map((at) => finish(points.slice(at, at + GRAM).reduce(mixIn, seed))))]
}

/** What a text with too many grams is looked up by: its mark, and the groups of some characters of the needle. */
function askedCharacters(needle: string, seed: number): number[] {
  const points = [...new Set(pointsOf(needle))].slice(0, MAX_ASKED)
  return [manyMark(seed), ...new Set(points.map((point) => groupOf(seed, point)))]
}

// A gram as the word that the full-text index of the embedded store knows it by: its number in base 36, put together
// from pieces that were written before. A short memory has a hundred grams, and writing each digit by digit took as
// long as inserting them all.
const PAIR = 36 ** 2
const QUAD = PAIR ** 2
const pairs = Array.from({ length: PAIR }, (_, n) => n.toString(36).padStart(2, '0'))
const heads = Array.from({ length: Math.ceil(2 ** 32 / QUAD) }, (_, n) => n.toString(36))

export function gramWord(gram: number): string {
  const number = gram >>> 0
  if (number < QUAD) return number.toString(36)
  const rest = number % QUAD
  return heads[(number - rest) / QUAD]! + pairs[Math.floor(rest / PAIR)]! + pairs[rest % PAIR]!
}

/** Grams as the text of an array of PostgreSQL. */
export const gramArray = (grams: Iterable<number>): string => `{${[...grams].join(',')}}`

/** What a folded text is looked up by: all of one of these are among the grams of a memory that holds it. */
export const askedOf = (needle: string, seed: number): { grams: number[]; characters: number[] } => ({
  grams: askedGrams(needle, seed),
  characters: askedCharacters(needle, seed),
})

/** The condition on memory_texts, with the alias `t`, that it can hold the folded text and the viewer can see it. */
export type MayHold = (viewer: Viewer, needle: string) => Condition
