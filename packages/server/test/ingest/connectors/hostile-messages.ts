// Hostile messages, made by hand byte by byte.
import { ARRAY, compound, described as section, LIST, MAP, NULL, uint32 } from '../../support/amqp-bytes.ts'

function nested(depth: number): Buffer {
  // Built from the inside out in one pass: each list contains the one before it.
  const heads: Buffer[] = []
  let size = 1
  for (let i = 0; i < depth; i++) {
    heads.unshift(Buffer.concat([Buffer.from([LIST]), uint32(size + 4), uint32(1)]))
    size += 9
  }
  return Buffer.concat([...heads, NULL])
}

const described = (times: number): Buffer => Buffer.concat([Buffer.alloc(times), NULL])

export const HOSTILE_MESSAGES: readonly [name: string, bytes: Buffer][] = [
  ['an array of four thousand million nothings', section(0x77, compound(ARRAY, 0xffff_ffff, NULL))],
  ['a list in a list, ten thousand deep', section(0x77, nested(10_000))],
  ['a description of a description, ten thousand deep', section(0x77, described(10_000))],
  ['a list that says it has more than it has', section(0x77, compound(LIST, 0xffff_ffff, NULL))],
  ['a map of a hundred thousand nothings', section(0x74, compound(MAP, 200_000, Buffer.alloc(200_000, 0x40)))],
  ['bytes that are said to be longer than they are', section(0x75, Buffer.from([0xb0, 0xff, 0xff, 0xff, 0xff]))],
  ['a section that nobody knows', section(0x99, NULL)],
  ['a type that nobody knows', section(0x77, Buffer.from([0x3f]))],
  ['a message that ends in the middle', Buffer.from([0x00, 0x53])],
  ['a list whose lengths do not agree', section(0x77, compound(LIST, 1, Buffer.alloc(3, 0x40)))],
]
