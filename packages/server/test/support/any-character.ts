// Any character, for random texts.
import fc from 'fast-check'

/**
 * Any code point that is not half a surrogate pair. The unit `binary` of fast-check has the same ones, but first makes
 * a list of all of them, which takes a second of CPU in each process.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))
