// The key by which a line is recognised when it is imported again: its id, or a hash of what it says.
import { createHash } from 'node:crypto'
import type { MemoryLine, Static } from '@sensorium/contract'
import type { Principal } from '../../auth/principal.ts'
import { isHighHalf } from '../../kernel/beginning-of.ts'
import { inSteps, nextTurn, type Pause } from '../../kernel/step-turns.ts'
import { newMemory } from '../remember.ts'
import { VERSIONED } from '../versions.ts'

/** Characters that are hashed in one step: a quarter of a millisecond. Ten megabytes at once took 100. */
const STEP = 16_384

/** Yields the JSON of an array of scalars in pieces, which are together what JSON.stringify returns. */
function* jsonOf(values: readonly (string | number | null)[]): Generator<string, void> {
  yield '['
  let before = ''
  for (const value of values) {
    if (typeof value !== 'string' || value.length <= STEP) yield before + JSON.stringify(value)
    else {
      yield before + '"'
      for (let at = 0; at < value.length; ) {
        let end = at + STEP
        // Half a pair is written as an escape, a whole one as it is.
        while (isHighHalf(value.charCodeAt(end - 1))) end++
        yield JSON.stringify(value.slice(at, end)).slice(1, -1)
        at = end
      }
      yield '"'
    }
    before = ','
  }
  yield ']'
}

/** Hashes what JSON.stringify returns for the values, and yields between its steps. */
export function* hashSteps(values: readonly (string | number | null)[]): Generator<void, string> {
  const hash = createHash('sha256')
  let done = 0
  for (const piece of jsonOf(values)) {
    hash.update(piece)
    done += piece.length
    if (done < STEP) continue
    yield
    done = 0
  }
  return hash.digest('base64url')
}

/** Throws what creating the memory would throw. */
export async function originOfLine(
  principal: Principal,
  line: Static<typeof MemoryLine>,
  now: number,
  pause: Pause = nextTurn,
): Promise<string> {
  if (line.id !== undefined) return line.id
  const row = newMemory(principal, () => '', now, line)
  const said = VERSIONED.map((name) => row[name])
  // Two lines that say the same under two external ids are two memories.
  if (row.external_id !== null) said.push(row.external_id)
  return `#${await inSteps(hashSteps(said), pause)}`
}
