import type { RE2Set } from 're2js'
import { type FAULT, overBudget, type Context } from './values.ts'

// Searches a text with the automaton that RE2 makes of a pattern, one character after the other, and pays on the way.
//
// RE2's own loop cannot be used: what it takes for a character differs by a factor of a thousand between patterns and
// texts (a state that is known costs a look-up, a new one the whole pattern), nobody is told which it was, and where
// its memory is full it starts over with something slower. Priced for the worst, an ordinary pattern could read 20
// characters; priced for the usual, a hostile one took a hundred times what it paid.
//
// 1. The price depends on pattern and texts alone. A transition that this evaluation has not used before counts as new,
//    even if an earlier one has left it behind: whether an event matches must not depend on what came before it.
// 2. New transitions are free up to a small number, which is more than most patterns ever need. So an ordinary pattern
//    costs a step a character, and one that keeps making states soon pays what they take.
// 3. States are kept up to a number of bytes. Past half of it an evaluation forgets them all and goes on; one that
//    begins with more than half finds none. So when that happens depends on this evaluation alone as well.

/** What one state of RE2's automaton is made of. */
interface State {
  readonly nfaStates: readonly number[]
  readonly isMatch: boolean
  readonly next: readonly (State | null)[] | null
  /** For each class of characters, the last evaluation that went that way. */
  used?: Int32Array
  /** The last evaluation that was here. */
  round?: number
}

/** RE2's flags for the place before the first character: the text begins here, and a line does. */
const START_OF_TEXT = 0b101
const END_OF_TEXT = -1
const UNANCHORED = 0

/** Measured: a character on a known way takes 5 to 10 ns, a new state 150 to 300 for each instruction in it. */
const STEPS_PER_INSTRUCTION = 20
/** Instructions in new states that one evaluation has for nothing, for each pattern: 75 microseconds at the worst. */
const FREE_INSTRUCTIONS = 256

/** Bytes of states that are kept at least. An ordinary pattern has 5 to 50 states of 300 to 600 bytes. */
const KEPT_STATES = 32 * 1024

export class Automaton {
  /** The most that it keeps in memory. */
  readonly bytes: number
  readonly #dfa: RE2Set['dfa']
  readonly #prog: RE2Set['prog']
  /** Classes of characters that the pattern tells apart. */
  readonly #classes: number
  readonly #capacity: number
  #start: State | null = null
  /** Bytes of all states that are kept. */
  #held = 0
  /** The evaluation that searches, the bytes of states that it met, and the instructions that were new to it. */
  #round = -1
  #met = 0
  #explored = 0

  /** `set` is compiled, holds one pattern, and belongs to the automaton from here on. */
  constructor(set: RE2Set) {
    const { dfa, prog } = set
    // A pattern that uses look-behind has no such automaton; the flag that allows those is never set here.
    if (dfa.failed) throw new Error('this pattern cannot be searched for in linear time')
    // The parsed pattern is not needed any more, and is most of the memory where something is repeated many times.
    set.regexps = []
    dfa.memBudget = Infinity
    dfa.stateBudget = Infinity
    this.#dfa = dfa
    this.#prog = prog
    this.#classes = dfa.numClasses
    this.#capacity = Math.max(KEPT_STATES, 4 * this.#stateBytes(prog.numInst()))
    this.bytes = 4000 + 200 * prog.numInst() + 24 * this.#classes + this.#capacity
  }

  /** Whether the pattern is found anywhere in the text. */
  search(c: Context, text: string): boolean | typeof FAULT {
    if (this.#round !== c.round) this.#begin(c.round)
    const round = c.round
    const dfa = this.#dfa
    const { latin1Class } = dfa
    this.#start ??= dfa.makeState([this.#prog.start], START_OF_TEXT, []) as State
    let state = this.#start
    const { length } = text
    for (let i = 0; i < length; i++) {
      if (--c.left < 0) return overBudget(c)
      let rune = text.charCodeAt(i)
      let cls: number
      if (rune <= 0xff) cls = latin1Class[rune] as number
      else {
        if ((rune & 0xfc00) === 0xd800) rune = text.codePointAt(i) as number
        if (rune > 0xffff) i++
        cls = dfa.runeClass(rune)
      }
      if (state.round === round && (state.used as Int32Array)[cls] === round) {
        state = (state.next as State[])[cls] as State
      } else {
        const next = this.#explore(c, state, cls, rune)
        if (next === null) return overBudget(c)
        state = next
      }
      if (state.isMatch) return true
    }
    const last = this.#explore(c, state, this.#classes, END_OF_TEXT)
    return last === null ? overBudget(c) : last.isMatch
  }

  #begin(round: number): void {
    this.#round = round
    this.#met = 0
    this.#explored = 0
    if (this.#held > this.#capacity / 2) this.#forget()
  }

  #forget(): void {
    this.#dfa.clearCache()
    this.#held = 0
    this.#start = null
  }

  #stateBytes(instructions: number): number {
    return 300 + 8 * instructions + 12 * (this.#classes + 1)
  }

  /** The way on from a state, new to this evaluation; null where it cannot pay for it. */
  #explore(c: Context, from: State, cls: number, rune: number): State | null {
    const state = from.round === this.#round ? from : this.#meet(from)
    if (!this.#pay(c, 1 + state.nfaStates.length)) return null
    ;(state.used as Int32Array)[cls] = this.#round
    const next = (state.next?.[cls] ?? this.#dfa.step(state, cls, rune, UNANCHORED)) as State
    return this.#pay(c, next.nfaStates.length) ? next : null
  }

  /** Counts a state that this evaluation meets for the first time; what is kept may have to be forgotten for it. */
  #meet(from: State): State {
    let state = from
    const bytes = this.#stateBytes(state.nfaStates.length)
    this.#met += bytes
    if (this.#met > this.#capacity / 2) {
      this.#forget()
      state = this.#dfa.resetCache(state) as State
      this.#met = bytes
    }
    if (state.used === undefined) {
      this.#held += bytes
      state.used = new Int32Array(this.#classes + 1)
    }
    state.round = this.#round
    return state
  }

  #pay(c: Context, instructions: number): boolean {
    this.#explored += instructions
    if (this.#explored > FREE_INSTRUCTIONS) c.left -= instructions * STEPS_PER_INSTRUCTION
    return c.left >= 0
  }
}
