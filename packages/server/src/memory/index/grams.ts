// Finds the memories that hold a substring, without reading all of them.
//
// Every live memory has a set of grams: a hash of each run of one, two and three characters in its folded title or
// content, and of each audience that may see it. A memory that holds a text holds all grams of the text, so the index
// returns the few candidates among the memories that the caller may see. Whether a candidate holds the text is then
// checked in its own text. A collision of hashes, of grams or audiences, only adds a candidate: see.ts decides what is
// seen, and the text decides what is held. The tenant is part of every hash, so that the memories of one tenant do not
// slow down the searches of another.
//
// A text with very many grams is indexed by its characters instead, hashed into a few thousand groups, together with a
// mark that says so. A lookup asks the index for both kinds at once.
//
// Runs of one and two characters are grams too, because whole words of Chinese and Japanese are that short.
//
// Tried and rejected: FTS5 with the trigram tokenizer (finds nothing shorter than three characters, has no audiences),
// an expression index on PostgreSQL that makes the grams in SQL (quadratic on text beyond ASCII).
import { atOnce } from '../../kernel/step-turns.ts'
import type { Condition, Viewer, Visibility } from '../see.ts'

const GRAM = 3
/**
 * A text with more grams than this is indexed by the groups of its characters: 32,768 different characters have 98,000
 * grams, which took the embedded store half a second to write. English text of any length has fewer than 7,000.
 */
const MAX_GRAMS = 8_192
/** A long Chinese text, with 2,500 different characters, fills half of the groups. */
const GROUPS = 4_096
/** A long needle is looked up by this many of its grams, spread over it; the check of the text covers the rest. */
const MAX_ASKED = 8

// FNV-1a by code points, with the bits mixed once more at the end: neighbouring values must not share a hash.
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

/** Returns the seed of all hashes of a tenant. */
export const seedOf = (tenantId: string): number => pointsOf(tenantId).reduce(mixIn, 0x811c9dc5)

/** Characters whose grams are made in a step, in about a millisecond. */
const STEP = 4_096

/** Adds the grams that begin in a part of a text, and stops when there are too many. Returns whether all were added. */
function addGrams(grams: Set<number>, seed: number, points: readonly number[], from: number): boolean {
  for (let i = from; i < points.length && i < from + STEP; i++) {
    let hash = seed
    for (let j = i; j < i + GRAM && j < points.length; j++) grams.add(finish((hash = mixIn(hash, points[j]!))))
    if (grams.size > MAX_GRAMS) return false
  }
  return true
}

const MANY_SEED = 0x2545f491

/** The mark of a text that is indexed by the groups of its characters. */
const manyMark = (seed: number): number => finish(mixIn(seed, MANY_SEED))

/** Returns the group of a character. */
const groupOf = (seed: number, point: number): number =>
  finish(mixIn(mixIn(seed, MANY_SEED), 1 + ((finish(mixIn(seed, point)) >>> 0) % GROUPS)))

function* groupSteps(seed: number, texts: readonly (readonly number[])[]): Generator<void, Set<number>> {
  const groups = new Set([manyMark(seed)])
  for (const text of texts)
    for (let from = 0; from < text.length; from += STEP) {
      for (const point of text.slice(from, from + STEP)) groups.add(groupOf(seed, point))
      yield
    }
  return groups
}

/**
 * Returns the grams of the folded texts of a memory; if there are too many, the groups of its characters instead. In
 * steps.
 */
export function* gramSteps(seed: number, ...texts: string[]): Generator<void, Set<number>> {
  const points = texts.map(pointsOf)
  const grams = new Set<number>()
  for (const text of points)
    for (let from = 0; from < text.length; from += STEP) {
      if (!addGrams(grams, seed, text, from)) return yield* groupSteps(seed, points)
      yield
    }
  return grams
}

export const gramsOf = (seed: number, ...texts: string[]): Set<number> => atOnce(gramSteps(seed, ...texts))

const audience = (seed: number, kind: 'agent' | 'team' | 'everybody', id = ''): number =>
  finish(pointsOf(`${kind} ${id}`).reduce(mixIn, seed))

type Audience = Pick<Visibility, 'agent_id' | 'team_id' | 'scope'>

/** Returns the hashes of the audiences that may see a memory. */
export function audiencesOf({ agent_id, team_id, scope }: Audience, seed: number): number[] {
  const wider =
    scope === 'institutional'
      ? [audience(seed, 'everybody')]
      : scope === 'team'
        ? [audience(seed, 'team', team_id!)]
        : []
  return [audience(seed, 'agent', agent_id), ...wider]
}

/** Returns the audiences of a viewer: it sees memories that have one of them. An empty list means that it sees all. */
export function audiencesFor({ kind, id, teamId }: Viewer, seed: number): number[] {
  if (kind === 'org_admin') return []
  return [
    audience(seed, 'agent', id),
    audience(seed, 'everybody'),
    ...(teamId === null ? [] : [audience(seed, 'team', teamId)]),
  ]
}

/** Returns the grams to look up for a folded text: the text itself if it is one gram, else grams of full length. */
function askedGrams(needle: string, seed: number): number[] {
  const points = pointsOf(needle)
  if (points.length <= GRAM) return [finish(points.reduce(mixIn, seed))]
  const last = points.length - GRAM
  const step = Math.max(1, last / (MAX_ASKED - 1))
  const starts = new Set([last])
  for (let at = 0; at <= last; at += step) starts.add(Math.floor(at))
  return [...new Set([...starts].map((at) => finish(points.slice(at, at + GRAM).reduce(mixIn, seed))))]
}

/** Returns the lookup for texts with too many grams: the mark, and the groups of some characters of the needle. */
function askedCharacters(needle: string, seed: number): number[] {
  const points = [...new Set(pointsOf(needle))].slice(0, MAX_ASKED)
  return [manyMark(seed), ...new Set(points.map((point) => groupOf(seed, point)))]
}

// The word that stands for a gram in the full-text index of the embedded store: its number in base 36, put together
// from precomputed pieces. A short memory has a hundred grams, and formatting each digit by digit took as long as
// inserting them all.
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

/** Returns grams as the text of a PostgreSQL array. */
export const gramArray = (grams: Iterable<number>): string => `{${[...grams].join(',')}}`

/** Returns two lookups for a folded text: a memory that holds it has all of `grams` or all of `characters`. */
export const askedOf = (needle: string, seed: number): { grams: number[]; characters: number[] } => ({
  grams: askedGrams(needle, seed),
  characters: askedCharacters(needle, seed),
})

/** Makes the condition on memory_texts, alias `t`, that a memory can hold the folded text and the viewer can see it. */
export type MayHold = (viewer: Viewer, needle: string) => Condition
