// Seeded random numbers: the same seed gives the same run.

export interface Random {
  /** 0 ≤ x < 1 */
  next(): number
  /** 0 ≤ n < below */
  int(below: number): number
  pick<T>(list: readonly T[]): T
  chance(probability: number): boolean
}

/** Mulberry32, started from the seed and the number of the request, so that each request has its own sequence. */
export function random(seed: number, stream = 0): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (below: number): number => Math.floor(next() * below)
  return { next, int, pick: (list) => list[int(list.length)]!, chance: (probability) => next() < probability }
}
