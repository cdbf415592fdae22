// How similar the tokens of a query are to those of a memory: for each token of the query the best cosine. This is most
// of what ranking computes, two hundred candidates with some 20,000 products each, so it is done sixteen bytes at a
// time, in WebAssembly that is assembled here: a twentieth of the time of a loop over numbers, with the same result.
import { TOKEN_SIZE } from './embed/tokens.ts'

/** More bytes than the tokens of a window have. */
const ROOM = 256 * TOKEN_SIZE
const QUERY_AT = 0
const MEMORY_AT = ROOM
const BEST_AT = 2 * ROOM
const PAGES = 1

// Instructions, named as in the specification.
const unsigned = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)])
const simd = (opcode: number, ...rest: number[]): number[] => [0xfd, ...unsigned(opcode), ...rest]
const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const i32Const = (n: number): number[] => [0x41, n] // of one byte, below 64
const i32Add = [0x6a]
const loop = (...body: number[][]): number[] => [0x03, 0x40, ...body.flat(), 0x0b]
const again = [0x0d, 0x00]
const section = (id: number, ...content: number[]): number[] => [id, ...unsigned(content.length), ...content]

const [Q, Q_END, M, M_END, BEST_TO] = [0, 1, 2, 3, 4]
const [AT, BEST, LIKENESS] = [5, 6, 7]
/** Sixteen bytes each: the pieces of the query's token, the current piece of the memory's token, and the sums. */
const [TOKEN, PIECE, SUMS] = [8, 12, 13]
const PIECES = TOKEN_SIZE / 16

const load = (address: number, offset: number): number[] => [...get(address), ...simd(0, 0, offset)]
/** Multiplies two pieces: products of 16 bits, added in twos to at most 2 · 127², then as sums of 32 bits. */
const products = (piece: number): number[] => [
  ...[...load(AT!, piece * 16), ...set(PIECE!)],
  ...[...get(TOKEN! + piece), ...get(PIECE!), ...simd(0x9c)], // i16x8.extmul_low_i8x16_s
  ...[...get(TOKEN! + piece), ...get(PIECE!), ...simd(0x9d)], // i16x8.extmul_high_i8x16_s
  ...[...simd(0x8e), ...simd(0x7e)], // i16x8.add, i32x4.extadd_pairwise_i16x8_s
]
const pieces = Array.from({ length: PIECES }, (_, i) => i)
const lane = (i: number): number[] => [...get(SUMS!), ...simd(0x1b, i)]
const forward = (local: number, by: number): number[] => [...get(local), ...i32Const(by), ...i32Add, ...set(local)]
const step = (local: number): number[] => [...forward(local, 32), ...forward(local, 32)]
const isBefore = (local: number, end: number): number[] => [...get(local), ...get(end), 0x49]

/** Compares one token of the memory: computes its likeness, and keeps the better of it and the best so far. */
const compared = [
  ...pieces.flatMap((piece) => [...products(piece), ...(piece === 0 ? [] : simd(0xae))]), // i32x4.add
  ...set(SUMS!),
  ...[...lane(0), ...lane(1), ...i32Add, ...lane(2), ...i32Add, ...lane(3), ...i32Add, ...set(LIKENESS!)],
  ...[...get(LIKENESS!), ...get(BEST!), ...get(LIKENESS!), ...get(BEST!), 0x4a, 0x1b, ...set(BEST!)], // i32.gt_s, select
]

const body = [
  ...[0x02, 3, 0x7f, 6, 0x7b], // three locals of 32 bits, six of 128
  ...loop(
    pieces.flatMap((piece) => [...load(Q!, piece * 16), ...set(TOKEN! + piece)]),
    [...i32Const(0), ...set(BEST!), ...get(M!), ...set(AT!)],
    loop(compared, step(AT!), isBefore(AT!, M_END!), again),
    [...get(BEST_TO!), ...get(BEST!), 0x36, 2, 0, ...forward(BEST_TO!, 4)], // i32.store
    step(Q!),
    isBefore(Q!, Q_END!),
    again,
  ),
  0x0b,
]

const name = (text: string): number[] => [text.length, ...Buffer.from(text)]
const module = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, 1, 0x60, 5, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0), // a function of five numbers that returns nothing
  ...section(3, 1, 0),
  ...section(5, 1, 0, PAGES),
  ...section(7, 2, ...name('memory'), 2, 0, ...name('compare'), 0, 0),
  ...section(10, 1, ...unsigned(body.length), ...body),
])

interface Exports {
  memory: { buffer: ArrayBuffer }
  compare(query: number, queryEnd: number, memory: number, memoryEnd: number, bestTo: number): void
}
/** The part of WebAssembly that is used here: the types of Node.js leave it to those of the browser. */
interface Runtime {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: Exports }
}
const { Module, Instance } = (globalThis as unknown as { WebAssembly: Runtime }).WebAssembly
const { memory, compare } = new Instance(new Module(module)).exports
const bytes = new Int8Array(memory.buffer)
const best = new Int32Array(memory.buffer, BEST_AT, ROOM / TOKEN_SIZE)

/** The likeness of a token to itself, 127 squared. */
const SAME = 16_129

/**
 * Returns the best likeness of each token of the query to a token of the memory, averaged by the tokens' weights; 0 if
 * either has no tokens. `shares` says how much of each token's likeness counts; all of it where no share is given.
 */
export function tokenLikeness(
  query: Int8Array,
  memory: Int8Array,
  weights: readonly number[] = [],
  shares: readonly number[] = [],
): number {
  if (query.length === 0 || memory.length === 0) return 0
  const asked = query.subarray(0, ROOM)
  const held = memory.subarray(0, ROOM)
  bytes.set(asked, QUERY_AT)
  bytes.set(held, MEMORY_AT)
  compare(QUERY_AT, QUERY_AT + asked.length, MEMORY_AT, MEMORY_AT + held.length, BEST_AT)
  let sum = 0
  let weight = 0
  for (let token = 0; token < asked.length / TOKEN_SIZE; token++) {
    const counts = weights[token] ?? 1
    sum += counts * best[token]! * (shares[token] ?? 1)
    weight += counts
  }
  return weight > 0 ? sum / weight / SAME : 0
}
