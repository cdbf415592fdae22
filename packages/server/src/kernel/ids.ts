// Makes ids: prefix, 48 bits of time, 80 random bits that count up inside one millisecond, so that ids made by one
// process sort in the order they were made.
import { randomFillSync } from 'node:crypto'
import { ID_ALPHABET, ID_PREFIXES, type IdKind } from '@sensorium/contract'

export type MakeId = (kind: IdKind) => string

const TIME_LENGTH = 10
const CHANCE_LENGTH = 16
/** Random bytes are drawn this many at a time: a call costs 10 µs, however many it brings. */
const POOL_LENGTH = 256 * CHANCE_LENGTH

function encodeTime(ms: number): string {
  let text = ''
  for (let i = 0; i < TIME_LENGTH; i++) {
    text = ID_ALPHABET[ms % 32] + text
    ms = Math.floor(ms / 32)
  }
  return text
}

/** Returns the lowest id that can be made at this time, in milliseconds since 1970. */
export const firstIdAt = (kind: IdKind, ms: number): string =>
  `${ID_PREFIXES[kind]}_${encodeTime(Math.max(0, ms))}${ID_ALPHABET[0]!.repeat(CHANCE_LENGTH)}`

/** Returns the maker of the ids of one process. `now` is the clock's; ids keep their order even if it goes back. */
export function idMaker(now: () => number): MakeId {
  let last = -1
  let time = ''
  const chance = new Uint8Array(CHANCE_LENGTH)
  const pool = new Uint8Array(POOL_LENGTH)
  let used = POOL_LENGTH

  function drawChance(): void {
    if (used === POOL_LENGTH) {
      randomFillSync(pool)
      used = 0
    }
    for (let i = 0; i < CHANCE_LENGTH; i++) chance[i] = pool[used++]! & 31
    chance[0]! &= 15 // room to count up
  }

  return (kind) => {
    const ms = now()
    if (ms > last) {
      last = ms
      time = encodeTime(ms)
      drawChance()
    } else {
      let i = CHANCE_LENGTH - 1
      while (i >= 0 && chance[i] === 31) chance[i--] = 0
      chance[i < 0 ? 0 : i]!++
    }
    let text = ''
    for (let i = 0; i < CHANCE_LENGTH; i++) text += ID_ALPHABET[chance[i]!]
    return `${ID_PREFIXES[kind]}_${time}${text}`
  }
}
